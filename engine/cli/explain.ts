import { printDiagnostic } from '../config/diagnostics.ts'
import { didYouMean } from '../config/suggest.ts'
import { loadConfiguration } from '../live/load-configuration.ts'
import { planSteps, printPlan } from '../pipeline/plan.ts'
import { accessOf } from '../spec/access.ts'
import { errors } from '../spec/error-table.ts'
import type { ErrorCode, ErrorRow } from '../spec/error-table.ts'
import type { Json } from '../spec/json.ts'
import { errorAdvice, findings, retryMeaning } from './codes.ts'
import { WrongUse } from './terminal.ts'
import type { CommonOptions, Terminal } from './terminal.ts'
import { columns, printJson, wrap } from './text.ts'

/**
 * Prints the plan of a pipeline: every stage with the slots it needs and gives, includes expanded, defaults filled in.
 */
export async function explainPipeline(
  options: CommonOptions & { readonly pipeline: string },
  terminal: Terminal,
): Promise<number> {
  const { config, json, pipeline: name } = options
  const { environment, folder } = terminal
  const { pipelines, sections, diagnostics } = await loadConfiguration({ file: config, root: folder, environment })
  const pipeline = pipelines.find((other) => other.name === name)
  if (pipeline === undefined) {
    const names = pipelines.map((other) => other.name)
    throw new WrongUse(
      `there is no pipeline "${name}"${didYouMean(name, names)}\npipelines: ${names.sort().join(', ')}`,
    )
  }
  if (diagnostics.length > 0) {
    for (const diagnostic of diagnostics) terminal.error(printDiagnostic(diagnostic))
    return 1
  }
  if (!json) {
    terminal.out(printPlan(pipeline, { pipelines, sections }))
    return 0
  }
  const { summary, protocol, routes, inputs, without } = pipeline
  const actions = routes.flatMap(({ method, path, action }) =>
    action ? [{ name: action.name, route: `${method} ${path}`, access: accessOf(action) }] : [],
  )
  const facts = {
    name,
    summary,
    protocol,
    routes: routes.map(({ method, path }) => `${method} ${path}`),
    public: pipeline.public,
    ...(actions.length > 0 ? { actions } : {}),
    inputs,
    ...(without.length > 0 ? { without } : {}),
    plan: planSteps(pipeline.stages, { pipelines, sections }),
    finally: planSteps(pipeline.finally, { pipelines, sections }, 'finally'),
  }
  terminal.out(printJson(facts as unknown as Json))
  return 0
}

/** Prints the meaning of an error code or of a finding code of `check`. */
export async function explainCode(
  { json, code }: CommonOptions & { readonly code: string },
  terminal: Terminal,
): Promise<number> {
  if (isErrorCode(code)) {
    const { status, type, retry, message }: ErrorRow = errors[code]
    const advice = errorAdvice[code]
    const rows = [
      ['status', String(status)],
      ['type', type],
      ['retry', `${retry}: ${retryMeaning[retry]}`],
      ['message', message],
      ['advice', advice],
    ]
    terminal.out(json ? printJson({ code, status, type, retry, message, advice }) : `${code}\n${columns(rows, '  ')}`)
    return 0
  }
  const meaning = findings.get(code)
  if (meaning === undefined)
    throw new WrongUse(`there is no code "${code}"${didYouMean(code, [...Object.keys(errors), ...findings.keys()])}`)
  terminal.out(json ? printJson({ code, meaning }) : `${code}\n  ${wrap(meaning, '  ')}`)
  return 0
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errors, code)
}
