/** JSON Schema of a query parameter: a text, a number, a whole number, `true` or `false`, a time (`format: 'date-time'`), or one of `enum`. */
export interface ParameterSchema {
  readonly type?: 'string' | 'number' | 'integer' | 'boolean'
  readonly format?: 'date-time'
  readonly enum?: readonly string[]
  /** What it is for who does not send it. */
  readonly default?: string | number | boolean
  readonly description: string
}

/** The parameters of a query, by name. Texts and words may be repeated, which means any of them. */
export type QuerySchema = Readonly<Record<string, ParameterSchema>>

/** The parameters of a list: filters, the fields to sort by, and the usual order, with `-` for descending. */
export interface ListSchema {
  readonly list: true
  readonly filters: QuerySchema
  readonly sorts: readonly string[]
  readonly usual: string
}

/** The checked parameters of a query. */
export interface Query {
  /** The values of a parameter; undefined if it was not sent. */
  values(name: string): readonly string[] | undefined
  /** The values that a field must not have; undefined if none was sent. */
  leftOut(name: string): readonly string[] | undefined
  /** Its first value. */
  text(name: string): string | undefined
  number(name: string): number | undefined
  /** Unix time in milliseconds. */
  time(name: string): number | undefined
  flag(name: string): boolean | undefined
}

/** The position of an item in a list: the value of its sort field, and its id, which orders items of equal value. */
export type ListKey = readonly [value: number | string | null, id: string]

/** One page of a list, as clients see it. */
export interface Page<T> {
  readonly data: readonly T[]
  /** The cursor of the next page; null at the end. */
  readonly next_cursor: string | null
}

/** The checked parameters of a list. */
export interface ListQuery extends Query {
  readonly limit: number
  /** The sort field, without its `-`. */
  readonly sort: string
  readonly isDescending: boolean
  /** The key of the last item of the page before; undefined: the first page. */
  readonly after: ListKey | undefined
  /** In lower case; empty if it was not sent. */
  readonly search: string
  /** The page of a list in memory, which this sorts: numbers and texts ascending, null first, then by id. */
  page<T>(items: Iterable<T>, keyOf: (item: T) => ListKey): Page<T>
  /** The page of rows that begin after `after`, in order. There is another page if there are more than `limit`. */
  onePage<T>(rows: readonly T[], keyOf: (row: T) => ListKey): Page<T>
}
