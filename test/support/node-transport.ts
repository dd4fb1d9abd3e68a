/**
 * Loaded before everything else (node --import), it keeps the native HTTP server from loading, as
 * where its binary does not fit: so tests and the processes they start are answered by the server of
 * Node.js, without knowing of it.
 */
import { basename } from 'node:path';

const NATIVE = /^uws_.*\.node$/;
const load = process.dlopen;

process.dlopen = (module: object, file: string, flags?: number): void => {
  if (NATIVE.test(basename(file))) throw new Error('it is kept from loading by a test');
  if (flags === undefined) load.call(process, module, file);
  else load.call(process, module, file, flags);
};
