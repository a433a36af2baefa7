import type { State } from '../../parts/Status.tsx'
import type { Row } from './row.ts'

/** How a request ended, as its picture and colour. */
export const states: Readonly<Record<Row['result'], State>> = {
  completed: 'good',
  client_closed: 'off',
  refused: 'warning',
  failed: 'bad',
}
