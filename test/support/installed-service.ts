/** The service of a Debian package, installed on a machine for tests. */
import assert from 'node:assert/strict';
import { appendFileSync, copyFileSync, cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildRecipe } from './built-dataset.js';
import { freePort } from './free-port.js';
import { eventually } from './http-eventually.js';
import { SystemdMachine } from './systemd-machine.js';

export const KEY = 'a-key-for-the-debian-test';

/** The service of an installed package. */
export class InstalledService {
  readonly machine: SystemdMachine;
  readonly #port: number;

  private constructor(machine: SystemdMachine, port: number) {
    this.machine = machine;
    this.#port = port;
  }

  /** Boots a machine with the package and a dataset; null where there can be none. */
  static async boot(deb: string): Promise<InstalledService | null> {
    const machine = await SystemdMachine.boot();
    if (machine === null) return null;
    copyFileSync(deb, machine.file('/root/situs.deb'));
    const service = new InstalledService(machine, await freePort());
    service.install();
    const built = buildRecipe('fixture');
    cpSync(join(built.varDir, 'datasets'), machine.file('/var/lib/situs/datasets'), {
      recursive: true,
      // A release whose files are older than its check need not be checked again.
      preserveTimestamps: true,
    });
    built.remove();
    machine.run('chown', '-R', 'situs:situs', '/var/lib/situs');
    const settings = `PORT=${service.#port}
SITUS_BOOTSTRAP_KEY=${KEY}
SITUS_BOOTSTRAP_RATE=1000000
SITUS_WORKERS=1
SITUS_BULK_WORKERS=1
`;
    appendFileSync(machine.file('/etc/default/situs'), settings);
    return service;
  }

  /** Installs the package, or itself over itself. */
  install(): void {
    const forced = '--force-depends --force-confold --no-triggers'.split(' ');
    const { code, out } = this.machine.run('dpkg', ...forced, '--install', '/root/situs.deb');
    assert.equal(code, 0, out);
  }

  /** What systemd says of a property. */
  told(property: string): string {
    return this.machine
      .run('systemctl', 'show', '--property', property, '--value', 'situs')
      .out.trim();
  }

  /** The processes that its main process has started, as the machine counts. */
  listeners(main = this.told('MainPID')): readonly string[] {
    return main === '0'
      ? []
      : readFileSync(this.machine.file(`/proc/${main}/task/${main}/children`), 'latin1')
          .trim()
          .split(' ')
          .filter((pid) => pid !== '');
  }

  /** The status of a lookup on a connection of its own. */
  async status(): Promise<number> {
    const headers = { 'X-API-KEY': KEY, Connection: 'close' };
    const url = `http://127.0.0.1:${this.#port}/request/v60?postalcode=91010`;
    const { status, body } = await fetch(url, { headers });
    await body?.cancel();
    return status;
  }

  async start(): Promise<void> {
    const { code, out } = this.machine.run('systemctl', 'start', 'situs');
    assert.equal(code, 0, out);
    await eventually(async () => (await this.status().catch(() => 0)) === 200);
  }
}
