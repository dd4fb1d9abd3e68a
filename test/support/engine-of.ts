/** The engine of a dataset that a test made; one for each, so that what it remembers is tested too. */
import type { Dataset } from '../../src/dataset/dataset.js';
import { Engine } from '../../src/engine/engine.js';

const ENGINES = new WeakMap<Dataset, Engine>();

/** The same engine for the same dataset. */
export function engineOf(dataset: Dataset): Engine {
  let engine = ENGINES.get(dataset);
  if (engine === undefined) {
    engine = new Engine(dataset);
    ENGINES.set(dataset, engine);
  }
  return engine;
}
