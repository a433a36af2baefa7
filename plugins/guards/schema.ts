import { createRequire } from 'node:module'
import type * as ajv from 'ajv/dist/2020.js'
import { defineGuard } from '../../engine/index.ts'
import { parsedJson } from '../../engine/kit.ts'
import type { Judged } from '../../engine/index.ts'
import { checkWhole } from './guard-record.ts'
import { compiled, mostInstructions } from './pattern.ts'
import type { GuardRecord } from './guard-record.ts'

const require = createRequire(import.meta.url)

/** Compares answers, or the arguments of a tool, with a JSON Schema. What does not fit is found. */
export default defineGuard({
  name: 'schema',
  summary: 'Finds answers, or arguments of a tool, that do not fit a JSON Schema (2020-12).',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['schema'],
    properties: {
      schema: { type: 'object', additionalProperties: true, description: 'The JSON Schema.' },
      tool: {
        type: 'string',
        minLength: 1,
        maxLength: 256,
        description: 'Name of the tool whose arguments must fit; unset: the answer must.',
      },
    },
  } as const,
  whole: true,
  check(config, _all, report) {
    const { schema, tool } = config
    checkWhole(config, report)
    const { side = [] } = config as Partial<Pick<GuardRecord, 'side'>>
    if (side.includes('input') || side.includes('tool_results'))
      report(['side'], 'guard', 'it judges answers: it needs "side: [output]", or "side: [tool_calls]" with "tool"')
    else if (tool !== undefined && !side.includes('tool_calls'))
      report(['side'], 'guard', 'it judges the arguments of a tool: it needs "side: [tool_calls]"')
    else if (tool === undefined && !side.includes('output'))
      report(['side'], 'guard', 'it judges the text of answers: it needs "side: [output]", or "tool"')
    try {
      compile(schema)
    } catch (error) {
      report(['schema'], 'pattern', `it does not compile: ${(error as Error).message}`)
    }
  },
  build({ schema, tool }) {
    const fits = compile(schema)
    return (judged) => ({ hit: bodiesIn(judged, tool).some((text) => !fits(parsedJson(text))) })
  },
})

/** Patterns of schemas by RE2: one of JavaScript may take minutes for a short text. */
const linear = Object.assign(
  (pattern: string) => {
    const machine = compiled(pattern, '')
    if (machine.programSize() > mostInstructions)
      throw new Error(`the pattern ${JSON.stringify(pattern)} has more than ${mostInstructions} instructions`)
    // By what it prints, the patterns of a schema are told apart.
    return { test: (text: string) => machine.test(text), toString: () => pattern }
  },
  { code: 'linear' },
)

function compile(schema: object): (value: unknown) => boolean {
  // No gateway loads them before a guard of this kind is there.
  const { Ajv2020 } = require('ajv/dist/2020.js') as typeof ajv
  const addFormats = require('ajv-formats') as (compiler: ajv.Ajv2020) => void
  const compiler = new Ajv2020({ strict: false, allErrors: false, logger: false, code: { regExp: linear } })
  addFormats(compiler)
  return compiler.compile(schema) as (value: unknown) => boolean
}

function bodiesIn({ texts, tool_calls: calls, side }: Judged, tool: string | undefined): readonly string[] {
  if (tool !== undefined) return calls.filter(({ name }) => name === tool).map((call) => call.arguments)
  // An answer that only calls tools has no text of its own.
  const said = texts.filter(({ role, at }) => side === 'input' || (role === 'assistant' && !at.endsWith('.arguments')))
  return said.length === 0 ? [] : [said.map(({ text }) => text).join('')]
}
