import { defineGuard } from '../../engine/index.ts'
import { moduleBeside } from '../../engine/kit.ts'
import { automatonOf, folded, foldedAsOne, placesOfWords } from './word-search.ts'
import type { WordsOutput } from './word-search.ts'

const module = moduleBeside('word-search', import.meta.url)

/** Characters up to which a search takes less of the event loop's time than others may wait. */
const atOnce = 200_000

/** For how many characters one takes as long in a text whose form is another one. */
const foldingCost = 10

/** UTF-16 units of a text for each unit of its folded form, at most: a letter and its marks fold to one. */
const unfolded = 3

/** Finds words and phrases of a list, in one pass over the text. */
export default defineGuard({
  name: 'words',
  summary: 'Finds words and phrases of a list, also where case, width or the form of Unicode differ.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['words'],
    properties: {
      words: {
        type: 'array',
        minItems: 1,
        maxItems: 50_000,
        items: { type: 'string', minLength: 1, maxLength: 256 },
        description: 'Words and phrases.',
      },
      case: { type: 'boolean', default: false, description: 'Whether upper and lower case differ.' },
      whole: {
        type: 'boolean',
        default: true,
        description: 'Whether no letter and no digit may stand beside a word.',
      },
    },
  } as const,
  check({ words, case: cased }, _all, report) {
    words.forEach((word, index) => {
      if (folded(word, cased).text.trim() === '') report(['words', index], 'pattern', 'an empty word is everywhere')
    })
  },
  longest: ({ words, case: cased }) =>
    unfolded * words.reduce((most, word) => Math.max(most, folded(word, cased).text.length), 0) + 2,
  build({ words, case: cased, whole }, host) {
    const automaton = automatonOf(words, cased)
    return ({ texts }, { places, timeout }) => {
      const input = { cased, whole, texts: texts.map(({ text }) => text), places }
      if (isQuick(input.texts, cased)) return placesOfWords(automaton, input)
      return host.work<WordsOutput>(module, { words, ...input }, timeout)
    }
  },
})

function isQuick(texts: readonly string[], cased: boolean): boolean {
  const characters = texts.reduce((sum, { length }) => sum + length, 0)
  if (characters > atOnce || characters * foldingCost <= atOnce) return characters <= atOnce
  const costOf = (text: string) => (foldedAsOne(text, cased) === undefined ? foldingCost : 1) * text.length
  return texts.reduce((sum, text) => sum + costOf(text), 0) <= atOnce
}
