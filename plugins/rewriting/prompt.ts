import { Refusal, defineStage } from '../../engine/index.ts'

/** Adds an instruction to those of the client, in the field that its protocol has for them. */
export default defineStage({
  name: 'prompt',
  summary: 'Add an instruction before or after those of the client.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['text'],
    properties: {
      text: {
        type: 'string',
        minLength: 1,
        pattern: '\\S',
        patternErrorMessage: 'must not be blank',
        description: 'The instruction.',
      },
      at: {
        enum: ['before', 'after'],
        default: 'before',
        description: "Whether it comes before the client's own instructions or after them.",
      },
    },
  } as const,
  needs: ['request'],
  provides: ['request'],
  notAfter: ['validate'],
  build: ({ text, at }, host) => {
    const { protocol } = host.pipeline
    const codec = protocol === undefined ? undefined : host.codec(protocol)
    if (!codec?.instruct) throw new Refusal(`requests of ${protocol ?? 'no protocol'} have no place for instructions`)
    return ({ request }) => ({ request: request.rewrite((body) => codec.instruct?.(body, text, at) ?? body) })
  },
})
