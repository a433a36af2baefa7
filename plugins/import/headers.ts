import type { Json } from '../../engine/index.ts'
import type { Draft } from './draft.ts'
import type { Report } from './report.ts'
import { isEmpty, membersOf } from './tree.ts'
import type { Node } from './tree.ts'

/** What the value of a header may hold. */
const headerText = /^[\t\x20-\x7e\x80-\xff]*$/

/** Whether a text can be the value of a header, or stands for a variable. */
export function isHeaderText(node: Node, draft: Draft): boolean {
  return node.kind === 'leaf' && (draft.isVariable(node) || headerText.test(node.text))
}

/** Where headers go, and what becomes of their values. */
interface Reading {
  readonly draft: Draft
  readonly report: Report
  /** The field that has them. */
  readonly to: string
  /** A value for the file. */
  readonly value: (node: Node, header: string) => string
}

/** Reads headers. Those that none can be are lost. */
export function readHeaders(section: Node | undefined, { draft, report, to, value }: Reading): Record<string, Json> {
  const headers: Record<string, Json> = {}
  for (const [header, node] of membersOf(section)) {
    const isName = /^[\w!#$%&*+.^`|~-]+$/.test(header) && header !== '__proto__'
    if (isEmpty(node)) report.default(node, 'says nothing')
    else if (!isName || !isHeaderText(node, draft)) report.lost(node, 'is no header')
    else {
      headers[header] = value(node, header)
      report.mapped(node, to)
    }
  }
  return headers
}
