/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

/** A JSON object. A key that holds `undefined` is left out when printed. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** Whether a JSON value is an object, and neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
