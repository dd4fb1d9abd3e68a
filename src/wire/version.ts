/** Versions and formats of the lookup interface. */
export const API_VERSIONS = [10, 20, 30, 40, 50, 60] as const;
export type ApiVersion = (typeof API_VERSIONS)[number];

export const FORMATS = ['json', 'xml'] as const;
export type Format = (typeof FORMATS)[number];

/** The version a number names; null when there is none. */
export function apiVersion(value: number): ApiVersion | null {
  return API_VERSIONS.find((version) => version === value) ?? null;
}
