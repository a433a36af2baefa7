/** What a captured request asked: its instructions, and the last text of its user. */
export interface Asked {
  readonly system: string
  readonly text: string
}

type Content = string | readonly { readonly text?: string }[]

interface Item {
  readonly role?: string
  readonly content?: Content
}

/** The body of a chat protocol, as far as it is read here. */
interface Body {
  readonly messages?: readonly Item[]
  readonly input?: string | readonly Item[]
  readonly system?: Content
  readonly instructions?: string
}

/** What the body of a chat, messages or responses request asked; undefined: it cannot be told. */
export function askedIn(body: string): Asked | undefined {
  const { messages, input, system, instructions } = parsed(body)
  const items = messages ?? (typeof input === 'string' ? [{ role: 'user', content: input }] : (input ?? []))
  const last = items.findLast(({ role, content }) => role === 'user' && textOf(content) !== '')
  if (!last) return undefined
  const first = items.find(({ role }) => role === 'system' || role === 'developer')
  return { system: instructions ?? textOf(system ?? first?.content), text: textOf(last.content) }
}

function textOf(content: Content | undefined): string {
  if (typeof content === 'string') return content
  return (content ?? []).flatMap(({ text }) => text ?? []).join('\n')
}

function parsed(body: string): Body {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    // A capture that was cut off is no JSON any more.
    return {}
  }
}
