/** `situs doctor`: examines everything that the service needs, and reports what it found. */
import { type Environment, loadConfig, settingsAlone } from '../config.js';
import { messageOf } from '../log.js';
import type { Store } from '../store/store.js';
import { CHECKS, type Checked, type Finding } from './doctor-checks.js';
import { print } from './command-line.js';
import { hasStore, openStore } from './open-store.js';

/** A finding, with the name of its check. */
interface NamedFinding extends Finding {
  readonly check: string;
}

async function runChecks(checked: Checked): Promise<readonly NamedFinding[]> {
  const findings: NamedFinding[] = [];
  for (const { name, run } of CHECKS) {
    try {
      findings.push(...(await run(checked)).map((finding) => ({ check: name, ...finding })));
    } catch (error) {
      findings.push({ check: name, level: 'fault', text: messageOf(error) });
    }
  }
  return findings;
}

/** Opens what the checks need, and runs them. What cannot be opened is a finding itself. */
export async function diagnose(environment?: Environment): Promise<readonly NamedFinding[]> {
  const { known, problems } = settingsAlone(environment);
  const findings: NamedFinding[] = problems.map((text) => ({
    check: 'settings',
    level: 'fault',
    text,
  }));
  let store: Store | null = null;
  let storeFault: string | null = null;
  try {
    // A setting with an unknown name is left out here, so that the other checks still run.
    const config = loadConfig(known);
    try {
      // Opening a store that does not exist would create it, but the checks must not change
      // anything.
      if (hasStore(config)) store = await openStore(config);
    } catch (error) {
      storeFault = messageOf(error);
    }
    const found = await runChecks({ config, store, storeFault, now: new Date() });
    const contradicts = ({ check, level }: NamedFinding): boolean =>
      problems.length > 0 && check === 'settings' && level === 'ok';
    findings.push(...found.filter((finding) => !contradicts(finding)));
  } catch (error) {
    findings.push({ check: 'settings', level: 'fault', text: messageOf(error) });
  } finally {
    await store?.close();
  }
  return findings;
}

/** Whether no finding keeps the service from working. */
export function isSound(findings: readonly NamedFinding[]): boolean {
  return !findings.some(({ level }) => level === 'fault');
}

/** Runs `situs doctor`; 1 where something keeps the service from working. */
export async function doctorCommand({ json }: { readonly json?: boolean }): Promise<number> {
  const findings = await diagnose();
  const sound = isSound(findings);
  if (json) print(JSON.stringify({ sound, findings }));
  else {
    for (const { check, level, text } of findings) {
      print(`${level.padEnd(8)} ${check.padEnd(9)} ${text}`);
    }
  }
  return sound ? 0 : 1;
}
