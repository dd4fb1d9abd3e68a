/**
 * A machine for tests of packages: systemd as process 1 over the files of this one, in namespaces of
 * its own. What it writes is in memory, and gone with it. It starts nothing that it is not told to.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './http-eventually.js';

const SYSTEMD = '/usr/lib/systemd/systemd';
/** The network is that of this machine. */
const NAMESPACES = ['--mount', '--pid', '--fork', '--kill-child', '--cgroup', '--uts', '--ipc'];

/** Arguments: a folder to mount on, and this program. */
const BOOT = `set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$1"
cd "$1"
mkdir upper work root
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" root
cd root
units=etc/systemd/system
for target in sysinit basic network-online; do
  rm -rf lib/systemd/system/$target.target.wants $units/$target.target.wants
  printf '[Unit]\\nDefaultDependencies=no\\n' > $units/$target.target
done
printf '[Unit]\\nDefaultDependencies=no\\n' > $units/bare.target
[ -x usr/bin/node ] || ln -s "$2" usr/bin/node
mount -t proc proc proc
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs tmpfs tmp
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for name in null zero full random urandom tty; do
  touch dev/$name
  mount --bind /dev/$name dev/$name
done
ln -s /proc/self/fd dev/fd
mkdir dev/pts dev/shm dev/mqueue dev/hugepages
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
pivot_root . mnt
umount -l /mnt
export container=other
exec ${SYSTEMD} --system --unit=bare.target --log-target=null
`;

/** What a command said and how it ended. */
interface Ran {
  readonly code: number | null;
  readonly out: string;
}

export class SystemdMachine {
  readonly #folder: string;
  readonly #unshare: ChildProcess;
  /** Process 1, as this machine counts. */
  readonly #init: number;

  private constructor(folder: string, unshare: ChildProcess, init: number) {
    this.#folder = folder;
    this.#unshare = unshare;
    this.#init = init;
  }

  /** Boots; null where this machine does not permit it, or has no systemd. */
  static async boot(): Promise<SystemdMachine | null> {
    const folder = mkdtempSync(join(tmpdir(), 'situs-machine-'));
    const child = spawn(
      'unshare',
      [...NAMESPACES, 'sh', '-c', BOOT, 'boot', folder, process.execPath],
      { stdio: 'ignore' },
    );
    child.on('error', () => undefined);
    const init = (): number => {
      const { pid = 0, exitCode } = child;
      return pid === 0 || exitCode !== null
        ? 0
        : Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim());
    };
    try {
      let machine: SystemdMachine | null = null;
      await eventually(() => {
        if (child.exitCode !== null || child.pid === undefined) return true;
        if (init() === 0) return false;
        machine ??= new SystemdMachine(folder, child, init());
        return machine.run('systemctl', 'is-system-running').out.trim() === 'running';
      });
      if (machine !== null && child.exitCode === null) return machine;
    } catch {
      child.kill('SIGKILL');
    }
    rmSync(folder, { recursive: true, force: true });
    return null;
  }

  /** A file of the machine, for this one. */
  file(path: string): string {
    return `/proc/${this.#init}/root${path}`;
  }

  /** Runs a command on it. */
  run(command: string, ...args: readonly string[]): Ran {
    const { status, stdout, stderr } = spawnSync(
      'nsenter',
      [
        '--target',
        String(this.#init),
        '--mount',
        '--pid',
        '--cgroup',
        `--root=${this.file('')}`,
        `--wd=${this.file('/')}`,
        command,
        ...args,
      ],
      { encoding: 'utf8' },
    );
    return { code: status, out: `${stdout}${stderr}` };
  }

  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.#unshare.once('exit', resolve));
    process.kill(this.#init, 'SIGKILL');
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
