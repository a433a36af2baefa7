import type { Answers, Row as ListedRow } from '../../api/answers.ts'

/** A request in `GET /api/logs`. Money in USD. */
export type Row = ListedRow<'list-requests'>

/** A stage's run. Milliseconds since the first byte of the request. */
export type Span = Detail['spans'][number]

export type Try = Detail['tries'][number]

export type Capture = NonNullable<Detail['capture']>

/** All that `GET /api/logs/:id` knows of a request. */
export type Detail = Answers['get-request']
