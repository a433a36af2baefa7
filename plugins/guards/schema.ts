import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { defineGuard } from '../../engine/index.ts'
import { parsedJson } from '../../engine/kit.ts'
import type { Judged } from '../../engine/index.ts'
import { checkWhole } from './guard-record.ts'

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
    const { schema } = config
    checkWhole(config, report)
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

function compile(schema: object): (value: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false, allErrors: false, logger: false })
  // The package is CommonJS, whose default export the types take for the module.
  ;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)
  return ajv.compile(schema) as (value: unknown) => boolean
}

function bodiesIn({ texts, tool_calls: calls, side }: Judged, tool: string | undefined): readonly string[] {
  if (tool !== undefined) return calls.filter(({ name }) => name === tool).map((call) => call.arguments)
  // An answer that only calls tools has no text of its own.
  const said = texts.filter(({ role, at }) => side === 'input' || (role === 'assistant' && !at.endsWith('.arguments')))
  return said.length === 0 ? [] : [said.map(({ text }) => text).join('')]
}
