/** What locating, rating and carts share of one dataset. */
import type { Dataset } from '../dataset/dataset.js';
import { AddressLocator } from './locate/locator.js';
import { ProductRules } from './product/rules.js';
import { RatesByArea } from './rate/area-rates.js';
import { States } from './rate/state-day.js';

export interface Shared {
  readonly states: States;
  readonly rates: RatesByArea;
  readonly locator: AddressLocator;
  readonly products: ProductRules;
}

const SHARED = new WeakMap<Dataset, Shared>();

/** Made once per open dataset. */
export function sharedOf(dataset: Dataset): Shared {
  let shared = SHARED.get(dataset);
  if (shared === undefined) {
    const rates = new RatesByArea(dataset);
    shared = {
      states: new States(dataset), rates, locator: new AddressLocator(dataset, rates),
      products: new ProductRules(dataset),
    };
    SHARED.set(dataset, shared);
  }
  return shared;
}
