/** Who runs a command, for the audit log. */
import { userInfo } from 'node:os';
import { loadConfig } from '../config.js';
import { addAudit, type Actor } from '../store/audit.js';
import { hasStore, openStore } from './open-store.js';

/** The user as the system knows it; a number without a name is one too. */
export function commandActor(): Actor {
  try {
    const { uid, username } = userInfo();
    return { kind: 'cli', uid, user: username };
  } catch {
    return { kind: 'cli', uid: process.getuid?.() ?? -1, user: '' };
  }
}

/**
 * Writes down what is about to be done to a release. Before it is done: what is done and not
 * written down would be worse than the reverse. Without a store there is nothing to write it into
 * yet, and nobody who was served by another release.
 */
export async function auditRelease(
  varDir: string, action: 'release.activate' | 'release.rollback', release: string,
): Promise<void> {
  const config = { varDir, storeUrl: loadConfig().storeUrl };
  if (!hasStore(config)) return;
  const store = await openStore(config);
  try {
    await store.write((transaction) => addAudit(transaction, {
      actor: commandActor(), account: null, action, object: release,
    }, Date.now()), { quiet: true });
  } finally {
    await store.close();
  }
}
