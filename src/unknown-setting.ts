/**
 * Names in the environment that look like settings and are none. A misspelt one would be an unset
 * one, unnoticed: a limit that does not hold, a folder that is not looked at.
 */
import { closestMatch } from 'leven';
import type { Setting } from './setting.js';

const PREFIX = 'SITUS_';
/** Letters that may differ from the name that was meant. */
const LETTERS_MAX = 5;

/** Names that the tests of this program read, and the programs they start are given too. */
const OF_TESTS = /^SITUS_(?:GOLDEN|DOCS|TEST_[A-Z]+)$/;

/**
 * What Kubernetes and Docker put beside the settings where a service is named "situs…":
 * SITUS_SERVICE_HOST, SITUS_PORT=tcp://…, SITUS_PORT_3000_TCP_ADDR.
 */
const OF_SERVICE = /_SERVICE_(?:HOST|PORT(?:_[A-Z0-9_]+)?)$|_PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_|$)/;
const SERVICE_URL = /^(?:tcp|udp|sctp):\/\//;

function isLinked(name: string, value: string): boolean {
  return OF_SERVICE.test(name) || (name.endsWith('_PORT') && SERVICE_URL.test(value));
}

/** A sentence for each name that begins as settings do and is none; values are not repeated. */
export function unknownSettings(
  environment: Readonly<Record<string, string | undefined>>, settings: readonly Setting[],
): readonly string[] {
  const names = settings.map(({ name }) => name);
  return Object.entries(environment)
    .filter(([name, value = '']) => name.startsWith(PREFIX) && !names.includes(name)
      && !OF_TESTS.test(name) && !isLinked(name, value))
    .map(([name]) => {
      // SITUS_PORT means PORT: the prefix counts for nothing.
      const bare = name.slice(PREFIX.length);
      const meant = names.includes(bare) ? bare
        : closestMatch(name, names, { maxDistance: LETTERS_MAX });
      return `${name} is no setting${meant === undefined ? '' : `; did you mean ${meant}?`}`;
    });
}
