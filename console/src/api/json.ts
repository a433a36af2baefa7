/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/** The keywords of JSON Schema that the admin API uses for what a form shows. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly description?: string
  readonly default?: Json
  readonly enum?: readonly Json[]
  readonly pattern?: string
  readonly patternErrorMessage?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly format?: string
  readonly writeOnly?: boolean
  readonly readOnly?: boolean
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly oneOf?: readonly Schema[]
  readonly const?: Json
  /** Whose names the value is one of: `provider`, `model`. */
  readonly 'x-names'?: string
  readonly 'x-unit'?: string
  /** What "Not set" means: `all`, `never`. */
  readonly 'x-null'?: string
  /** Bounds of a duration, such as `1s`. */
  readonly 'x-minimum'?: string
  readonly 'x-maximum'?: string
  readonly [keyword: string]: unknown
}
