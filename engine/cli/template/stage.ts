/** A starter file, and the next steps for it. */
export interface Template {
  readonly text: string
  /**
   * The next steps.
   * @param entry the entry to add to `plugins:`, if needed
   */
  next(entry: string | undefined): string
}

/** The line of the configuration that names the file. */
export function pluginsLine(entry: string | undefined): string {
  return entry === undefined ? '' : `  plugins: [./plugins, ${entry}]\n`
}

/** A stage that reads the request and notes a fact for the log. */
export function stageTemplate(name: string): Template {
  return {
    text: `import { GatewayError, defineStage } from 'sluice'

/**
 * Refuses requests for models of a given prefix and notes the others. Put your own rule in its place.
 * The check at load proves that the slots a stage needs are there, and a stage returns exactly what it provides.
 */
export default defineStage({
  name: '${name}',
  summary: 'Refuse models of a given prefix.',
  // JSON Schema of its fields: it gives the TypeScript type, the defaults and the docs.
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      prefix: { type: 'string', minLength: 1, default: 'internal-', description: 'How refused names of models begin.' },
    },
  } as const,
  // Slots that must be there: "request" is given by the stage that parses. "reads: [...]" is for those that may be.
  needs: ['request'],
  // Slots it gives; "build" must return each of them.
  provides: [],
  // Built once for each place in a pipeline; what comes back runs for every request.
  build: ({ prefix }, host) => {
    host.log.debug({ prefix }, '${name} is built')
    return ({ request }, scope) => {
      if (request.model.startsWith(prefix)) throw new GatewayError('model_not_found', { model: request.model }, { param: 'model' })
      // Kept in the row of the request log. Never prompts, never keys.
      scope.note('${name}', true)
      return {}
    }
  },
})
`,
    next: (
      entry,
    ) => `Next: put it into a pipeline, behind "parse"${entry === undefined ? '' : ', and its file into the configuration'},

${entry === undefined ? '' : `${pluginsLine(entry)}\n`}  stages:
    - parse
    - ${name}: { prefix: internal- }

then look at it:

  sluice check
  sluice list stages ${name}`,
  }
}
