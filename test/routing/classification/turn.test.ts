import { expect } from 'chai'
import type { Item } from '../../../engine/index.ts'
import { isInjected } from '../../../plugins/classification/injected.ts'
import { countTurns, lastTurn } from '../../../plugins/classification/turn.ts'

const reminder = '<system-reminder>\nNothing new.\n</system-reminder>\n'

/** A message of the user that counts how often its text is read. */
const message = (text: string, read: { texts: number } = { texts: 0 }): Item => ({
  type: 'message',
  role: 'user',
  content: [
    {
      type: 'text',
      get text() {
        read.texts++
        return text
      },
    },
  ],
})

const answer: Item = { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Yes.' }] }

describe('routing/classification, turns', () => {
  it('are those in which the user says something', () => {
    const items = [message('Hello'), answer, message(reminder), answer, message(`${reminder}Go on.`), message(reminder)]
    expect(countTurns(items)).to.equal(2)
    expect(lastTurn({ items })).to.include({ end: 5, text: 'Go on.' })
  })

  it('are looked for in so many characters of a request, however many messages it has', () => {
    for (const text of [reminder.repeat(40), '<task>\n</task>\n'.repeat(1_600), ' '.repeat(24_000), '<task>', '']) {
      const read = { texts: 0 }
      const items = Array.from({ length: 5_000 }, () => [message(text, read), answer]).flat()
      lastTurn({ items })
      countTurns(items)
      // What is not looked at is taken for a turn, so only the last one is read once more, to be cleaned.
      expect(read.texts, text.slice(0, 20)).to.be.at.most(24_000 / (100 + text.length) + 3)
    }
  })

  it('are not those of texts with nothing but what clients put there, up to fifty elements', () => {
    expect(isInjected(reminder.repeat(50))).to.equal(true)
    expect(isInjected(reminder.repeat(51))).to.equal(false)
  })
})
