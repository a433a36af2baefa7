import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { GatewayError, defineStage } from '../../engine/index.ts'
import { compileForBodies, requirement } from '../../engine/kit.ts'

/** Rejects a body that violates its protocol's schema or codec, with the path of the error. */
export default defineStage({
  name: 'validate',
  summary: "Check the body against its protocol's schema.",
  config: {
    type: 'object',
    additionalProperties: false,
    properties: { status: { enum: [400, 422], default: 400, description: 'Status of the error.' } },
  } as const,
  needs: ['request'],
  provides: [],
  build: ({ status }, host) => {
    const { protocol } = host.pipeline
    if (protocol === undefined) throw new Error(`pipeline "${host.pipeline.name}" uses "validate" and says no protocol`)
    const usual = host.codec(protocol)
    // For a quick start, it is compiled once the gateway serves, or with the first request.
    let ready: ValidateFunction | undefined
    const first = () => (ready ??= compileForBodies(usual.schema))
    // V8 compiles the code at its first run.
    host.warm?.(() => void first()({}))
    return ({ request }) => {
      const codec = request.protocol === protocol ? usual : host.codec(request.protocol)
      const valid = codec === usual ? (ready ?? first()) : compileForBodies(codec.schema)
      if (!valid(request.body)) throw told(refusal(valid.errors ?? []), status, codec.mistaken?.(request.body))
      const flaw = codec.check?.(request.body)
      if (flaw) throw new GatewayError('invalid_value', { ...flaw }, { status })
      return {}
    }
  },
})

/** An error with its status, and with a hint if the body seems to be of another protocol. */
function told({ code, facts, failure }: GatewayError, status: number, mistaken: string | undefined): GatewayError {
  const message = mistaken === undefined ? failure.message : `${failure.message} ${mistaken}`
  return new GatewayError(code, facts, { status, code: failure.code, message })
}

/** The most useful of ajv's errors: of several alternatives, the one that matched deepest into the body. */
function refusal(errors: readonly ErrorObject[]): GatewayError {
  const depth = ({ instancePath }: ErrorObject) => instancePath.split('/').length
  const [first, ...others] = errors.filter(({ keyword }) => keyword !== 'if')
  if (!first) return new GatewayError('invalid_request', { reason: 'The body is not valid.' })
  const error = others.reduce((best, next) => (depth(next) > depth(best) ? next : best), first)
  if (error.keyword === 'required') {
    const param = place(error.instancePath, String(error.params['missingProperty']))
    return new GatewayError(
      'invalid_value',
      { param },
      { code: 'missing_required_parameter', message: `Missing required parameter: ${param}.` },
    )
  }
  const param = place(error.instancePath, error.params['additionalProperty'] as string | undefined)
  if (error.keyword === 'additionalProperties' || error.keyword === 'unevaluatedProperties')
    return new GatewayError(
      'invalid_value',
      { param },
      { code: 'unknown_parameter', message: `Unknown parameter: ${param}.` },
    )
  return new GatewayError('invalid_value', { param, reason: `it ${requirement(error)}` })
}

/** `/messages/2/content` as `messages[2].content`. */
function place(pointer: string, last?: string): string {
  const parts = pointer
    .split('/')
    .slice(1)
    .map((part) => shown(part.replaceAll('~1', '/').replaceAll('~0', '~')))
  if (last !== undefined) parts.push(shown(last))
  return (
    parts.reduce(
      (path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`),
      '',
    ) || 'body'
  )
}

/** A name from the client, shortened so that an error may repeat it. */
function shown(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}…` : name
}
