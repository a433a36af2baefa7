import { printDiagnostic } from '../config/diagnostics.ts'
import type { Registry } from '../config/registry.ts'
import { didYouMean } from '../config/suggest.ts'
import { loadConfiguration } from '../live/load-configuration.ts'
import { planSteps, printPlan } from '../live/plan.ts'
import { accessOf } from '../spec/access.ts'
import type { Json } from '../spec/json.ts'
import { findings, retryMeaning, toldCodes } from './codes.ts'
import { WrongUse } from './terminal.ts'
import type { CommonOptions, Terminal } from './terminal.ts'
import { columns, printJson, wrap } from '../kit/text.ts'

/**
 * Prints the plan of a pipeline: every stage with the slots it needs and gives, includes expanded, defaults filled in.
 */
export async function explainPipeline(
  options: CommonOptions & { readonly pipeline: string },
  terminal: Terminal,
): Promise<number> {
  const { config, json, pipeline: name } = options
  const { environment, folder } = terminal
  const { pipelines, sections, diagnostics, registry } = await loadConfiguration({
    file: config,
    root: folder,
    environment,
  })
  const pipeline = pipelines.find((other) => other.name === name)
  if (pipeline === undefined) {
    const codes = [...toldCodes(registry).map(({ code }) => code), ...findings.keys()]
    if (codes.includes(name)) return tellCode(name, registry, json, terminal)
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
  { config, json, code }: CommonOptions & { readonly code: string },
  terminal: Terminal,
): Promise<number> {
  const { environment, folder: root } = terminal
  const { registry } = await loadConfiguration({ file: config, root, environment })
  return tellCode(code, registry, json, terminal)
}

function tellCode(code: string, registry: Registry, json: boolean, terminal: Terminal): number {
  const errors = toldCodes(registry)
  const error = errors.find((one) => one.code === code)
  if (error !== undefined) {
    const { status, type, retry, message, from, advice } = error
    const rows = [
      ['status', String(status)],
      ['type', type],
      ['retry', `${retry}: ${retryMeaning[retry]}`],
      ['message', message],
      ['from', from],
      ...(advice === '' ? [] : [['advice', advice]]),
    ]
    const facts = { code, status, type, retry, message, from, advice }
    terminal.out(json ? printJson(facts) : `${code}\n${columns(rows, '  ')}`)
    return 0
  }
  const meaning = findings.get(code)
  if (meaning === undefined)
    throw new WrongUse(
      `there is no code "${code}"${didYouMean(code, [...errors.map((one) => one.code), ...findings.keys()])}`,
    )
  terminal.out(json ? printJson({ code, meaning }) : `${code}\n  ${wrap(meaning, '  ')}`)
  return 0
}
