/** The whole service in the process of a test. */
import { App } from '../../src/app.js';
import { type Environment, loadConfig } from '../../src/config.js';
import { SILENT } from '../../src/log.js';
import type { AppOptions } from '../../src/opened.js';

/** Starts it over a folder, with one worker of each kind and a free port, for `listen`. */
export function startApp(
  varDir: string,
  settings: Environment = {},
  options: Partial<AppOptions> = {},
): Promise<App> {
  const config = loadConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    SITUS_VAR: varDir,
    SITUS_WORKERS: '1',
    SITUS_BULK_WORKERS: '1',
    ...settings,
  });
  return App.start({ config, log: SILENT, ...options });
}
