import type { Access } from './access.ts'
import type { QuerySchema } from './query.ts'

/** The groups of the console's rail. */
export const pageGroups = ['watch', 'use', 'configure'] as const

/** The icons that a page may have. The console draws each of them. */
export const pageIcons = [
  'account',
  'audit',
  'bell',
  'book',
  'calendar',
  'clock',
  'filter',
  'flag',
  'keys',
  'lock',
  'logs',
  'models',
  'overview',
  'pipelines',
  'playground',
  'providers',
  'routing',
  'search',
  'settings',
  'system',
  'tag',
  'warning',
] as const

/** How the console shows a type of record, or what an action lists. */
export interface PageParts {
  /** Its name in the rail, and its heading. */
  readonly title: string
  readonly group: (typeof pageGroups)[number]
  readonly icon: (typeof pageIcons)[number]
  /** The fields of a row that the list shows, in order. The first one leads to the record. */
  readonly columns: readonly string[]
  /** The fields of a row that the page of one record shows beside its form. Default: none. */
  readonly facts?: readonly string[]
}

/** An action behind a page. */
export interface PageAction {
  /** A method and a path: `PATCH /api/models/:name`. */
  readonly route: string
  readonly access: Access
  /** JSON Schema of its body. `x-record` stands for the fields of a type of record. */
  readonly body?: object
}

/** A page of the running configuration, and the actions behind it. */
export interface PageView extends Required<PageParts> {
  /** The name of its type of record, or of its action. */
  readonly name: string
  /** Whether its rows are records of the gateway, or what an action lists. */
  readonly kind: 'record' | 'action'
  /** The field that names the record of a row; absent: its records are not opened. */
  readonly key?: string
  readonly actions: {
    readonly list: PageAction
    /** Absent: a record is found in the list. */
    readonly get?: PageAction
    readonly create?: PageAction
    readonly change?: PageAction
    readonly delete?: PageAction
  }
  /** The parameters of its list. */
  readonly query: QuerySchema
  /** JSON Schema of a row. */
  readonly row: object
}
