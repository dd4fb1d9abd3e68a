/** What `situs doctor` finds in a folder, by its process or in this one. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { diagnose, isSound } from '../../src/cli/doctor.js';
import { Store } from '../../src/store/store.js';
import { CLI } from '../support/built-dataset.js';

interface Diagnosis {
  readonly code: number;
  readonly sound: boolean;
  /** "level check text" of each finding. */
  readonly lines: readonly string[];
}

/** The command: how it ends and what it prints. */
export function doctor(varDir: string, env: NodeJS.ProcessEnv = {}): Promise<Diagnosis> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [CLI, 'doctor', '--json'],
      { env: { ...process.env, SITUS_VAR: varDir, ...env } },
      (error, out) => {
        const { sound, findings } = JSON.parse(out) as {
          sound: boolean;
          findings: { check: string; level: string; text: string }[];
        };
        const lines = findings.map(({ level, check, text }) => `${level} ${check} ${text}`);
        resolve({ code: error === null ? 0 : Number(error.code), sound, lines });
      },
    );
  });
}

/** The same in this process, where nothing else has the store open. */
async function diagnosed(varDir: string, env: NodeJS.ProcessEnv): Promise<Diagnosis> {
  const findings = await diagnose({ ...process.env, SITUS_VAR: varDir, ...env });
  const lines = findings.map(({ level, check, text }) => `${level} ${check} ${text}`);
  const sound = isSound(findings);
  return { code: sound ? 0 : 1, sound, lines };
}

export async function assertFinds(
  varDir: string,
  found: RegExp,
  code: number,
  env: NodeJS.ProcessEnv = {},
  how = diagnosed,
): Promise<void> {
  const diagnosis = await how(varDir, env);
  assert.ok(
    diagnosis.lines.some((line) => found.test(line)),
    diagnosis.lines.join('\n'),
  );
  assert.equal(diagnosis.code, code, diagnosis.lines.join('\n'));
  assert.equal(diagnosis.sound, code === 0);
}

export async function withStore<T>(varDir: string, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await Store.open(varDir);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
