import { defineGuard } from '../../engine/index.ts'
import { moduleBeside } from '../../engine/kit.ts'
import type { Found } from '../../engine/index.ts'
import match from './match.ts'
import type { MatchOutput } from './match.ts'
import { compiled, longestMatch, mostInstructions, named } from './pattern.ts'

const module = moduleBeside('match', import.meta.url)

/** Characters times instructions up to which a search takes less of the event loop's time than others may wait. */
const atOnce = 1_000_000

const text = { type: 'string', minLength: 1, maxLength: 4_096 } as const

/** Finds what patterns match. They are those of RE2, so that none takes more than linear time. */
export default defineGuard({
  name: 'regex',
  summary: 'Finds what regular expressions match, in the syntax of RE2.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['patterns'],
    properties: {
      patterns: {
        type: 'array',
        minItems: 1,
        maxItems: 100,
        items: {
          anyOf: [
            text,
            {
              type: 'object',
              additionalProperties: false,
              required: ['name', 'pattern'],
              properties: {
                name: {
                  type: 'string',
                  pattern: '^[a-z][a-z0-9_]{0,63}$',
                  patternErrorMessage: 'must be lower-case letters, digits and "_"',
                  description: 'What the pattern finds.',
                },
                pattern: { ...text, description: 'The regular expression.' },
              },
            },
          ],
        },
        description: 'Regular expressions, each as a text or with a name, which is what its places are called.',
      },
      flags: {
        type: 'string',
        pattern: '^[ism]{0,3}$',
        patternErrorMessage: 'must be of the letters i, s and m',
        default: 'is',
        description: 'i: case does not count; s: a dot matches the ends of lines, too; m: ^ and $ match at each line.',
      },
      longest: {
        type: 'integer',
        minimum: 1,
        maximum: 65_536,
        default: 256,
        description: 'Most characters of a match in a stream, for patterns with an open repetition such as `+`.',
      },
    },
  } as const,
  check({ patterns, flags }, _all, report) {
    for (const [index, given] of patterns.entries()) {
      const path = ['patterns', index, ...(typeof given === 'string' ? [] : ['pattern'])]
      try {
        const size = compiled(named(given).pattern, flags).programSize()
        if (size > mostInstructions)
          report(
            path,
            'pattern',
            `it has ${size} instructions, more than ${mostInstructions}: judging it would take too long`,
          )
      } catch (error) {
        report(path, 'pattern', `it does not compile: ${(error as Error).message}`)
      }
    }
  },
  longest: ({ patterns, longest }) =>
    patterns.reduce((most, given) => {
      const length = longestMatch(named(given).pattern)
      return Math.max(most, length === Infinity ? longest : length)
    }, 1),
  build({ patterns: given, flags }, host) {
    const patterns = given.map(named)
    const instructions = patterns.reduce((sum, { pattern }) => sum + compiled(pattern, flags).programSize(), 0)
    return ({ texts }, { places, timeout }) => {
      const input = { patterns, flags, texts: texts.map((one) => one.text), places }
      const characters = input.texts.reduce((sum, { length }) => sum + length, 0)
      if (characters * instructions <= atOnce) return foundIn(match(input))
      return host.work<MatchOutput>(module, input, timeout).then(foundIn)
    }
  },
})

function foundIn({ hit, places }: MatchOutput): Found {
  return {
    hit,
    spans: places.map(({ text: index, start, end, entity }) => ({
      text: index,
      start,
      end,
      ...(entity === '' ? {} : { entity }),
    })),
  }
}
