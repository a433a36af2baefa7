import type { JsonObject } from '../../engine/index.ts'
import { timeText } from '../../engine/kit.ts'
import { sentenceOf } from './cause.ts'
import type { Notice } from './cause.ts'
import type { Target } from './settings.ts'
import { signed } from './standard-webhooks.ts'

/** What is posted to a target. */
export interface Post {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * A notice in the form of a target.
 * @param address where clients reach the gateway
 */
export function postOf(notice: Notice, { form, secret = '' }: Pick<Target, 'form' | 'secret'>, address: string): Post {
  const content = form === 'slack' ? slackOf(notice, address) : standardOf(notice, address)
  const body = JSON.stringify(content)
  const type = { 'content-type': 'application/json' }
  return { body, headers: form === 'slack' ? type : { ...type, ...signed(notice.message, body, { secret }) } }
}

function standardOf({ id, cause, state, at, since, subject, facts, path }: Notice, address: string): JsonObject {
  return { id, cause, state, at: timeText(at), since: timeText(since), subject, facts, link: `${address}${path}` }
}

/** Most facts of a message in Slack: a section has room for ten fields. */
const mostFacts = 10

function slackOf(notice: Notice, address: string): JsonObject {
  const { facts, path } = notice
  const sentence = sentenceOf(notice)
  const text = (words: string) => ({ type: 'mrkdwn', text: words })
  const fields = Object.entries(facts)
    .slice(0, mostFacts)
    .map(([name, value]) =>
      text(`*${escaped(name)}*: ${escaped(typeof value === 'string' ? value : JSON.stringify(value))}`),
    )
  const link = `<${escaped(`${address}${path}`)}|Show>`
  return {
    text: escaped(sentence),
    blocks: [{ type: 'section', text: text(`${escaped(sentence)} ${link}`), ...(fields.length > 0 && { fields }) }],
  }
}

/** Three characters are control characters in texts of Slack. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
