/** Levels of government that levy a sales tax, widest first. */
export const LEVELS = ['state', 'county', 'city', 'district'] as const;
export type Level = (typeof LEVELS)[number];

/** Countries the service answers for, by the ISO-3 code of the API. */
export const COUNTRIES = ['USA', 'CAN', 'PRI', 'ASM', 'GUM', 'MNP', 'VIR'] as const;
export type Country = (typeof COUNTRIES)[number];

/** Countries as addresses name them. */
export const COUNTRY_NAMES: Readonly<Record<Country, string>> = {
  USA: 'United States',
  CAN: 'Canada',
  PRI: 'Puerto Rico',
  ASM: 'American Samoa',
  GUM: 'Guam',
  MNP: 'Northern Mariana Islands',
  VIR: 'U.S. Virgin Islands',
};
