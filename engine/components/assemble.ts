import type { AnyAction } from '../spec/action.ts'
import type { EitherCodec } from '../spec/codec.ts'
import type { Stability } from '../spec/config.ts'
import type { AnyCommand } from '../spec/command.ts'
import { errors } from '../spec/error-table.ts'
import type { DeclaredError } from '../spec/error-table.ts'
import type { AnyGuard } from '../spec/guard.ts'
import type { Plugin } from '../spec/plugin.ts'
import type { AnyProvider } from '../spec/provider.ts'
import type { AnyRecord } from '../spec/record.ts'
import type { AnyService } from '../spec/service.ts'
import type { AnySignal } from '../spec/signal.ts'
import type { AnySlot } from '../spec/slot.ts'
import type { AnyStage } from '../spec/stage.ts'
import { actionsOfRecords, checkRoutes } from '../actions/declarations.ts'
import { checkPages } from '../actions/pages.ts'
import { problemOfSchemas, recognise } from './recognise.ts'
import type { Component } from '../config/registry.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import type { Registry } from '../config/registry.ts'
import { ownSlots } from './own-slots.ts'
import { checkNamed, checkPlaces } from '../records/record-types.ts'
import { checkSections } from '../records/sections.ts'
import { didYouMean } from '../config/suggest.ts'
import { checkUses } from '../config/uses.ts'
import type { ReportOf } from '../config/uses.ts'

/** A default export, and the file or package that exports it. */
export interface Found {
  readonly value: unknown
  readonly from: string
  /** Whether it belongs to the product; other components of the same name replace it. */
  readonly shipped?: boolean
  /** That of its plugin, for components that say nothing else. */
  readonly stability?: Stability | undefined
}

/**
 * A registry of default exports, with plugins expanded. Invalid components, and names taken twice outside of the
 * product, become diagnostics.
 * @param incomplete whether some plugin could not be loaded; an unknown name may then belong to it
 */
export function assemble(
  exports: readonly Found[],
  incomplete = false,
): { registry: Registry; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  const stable = new Set<object>()
  const owners = new Map<string, Found>()
  const found = {
    plugin: new Map<string, Plugin>(),
    stage: new Map<string, AnyStage>(),
    action: new Map<string, AnyAction>(),
    codec: new Map<string, EitherCodec>(),
    provider: new Map<string, AnyProvider>(),
    signal: new Map<string, AnySignal>(),
    guard: new Map<string, AnyGuard>(),
    slot: new Map<string, AnySlot>(),
    service: new Map<string, AnyService>(),
    command: new Map<string, AnyCommand>(),
    record: new Map<string, AnyRecord>(),
  } satisfies { [K in Component['kind']]: Map<string, Extract<Component, { kind: K }>['value']> }
  const put = ({ kind, value }: Component, by: Found) => {
    const name = kind === 'codec' ? value.protocol : value.name
    const owner = owners.get(`${kind} ${name}`)
    if (owner !== undefined && !(owner.shipped ?? false) && by.shipped === true) return undefined
    if (owner !== undefined && (owner.shipped ?? false) === (by.shipped ?? false))
      return diagnostics.push(inFile(by.from, 'duplicate', `the ${kind} "${name}" is already there: ${owner.from}`))
    owners.set(`${kind} ${name}`, by)
    return (found[kind] as Map<string, Component['value']>).set(name, value)
  }
  // Also those whose name another one has: their parts are there.
  const whole: { readonly plugin: Plugin; readonly by: Found }[] = []
  const add = (given: Found): void => {
    const component = recognise(given.value)
    const wrong = (problem: string) => void diagnostics.push(inFile(given.from, 'component', problem))
    if ('problem' in component) return wrong(component.problem)
    // The product's tests check its schemas: at each start, that would take longer than most other steps.
    const flaw = given.shipped ? undefined : problemOfSchemas(component)
    if (flaw !== undefined) return wrong(flaw.problem)
    put(component, given)
    if (component.kind === 'plugin') whole.push({ plugin: component.value, by: given })
    const { stability = given.stability } = component.value as { readonly stability?: Stability }
    if (stability === 'stable') stable.add(component.value)
    if (component.kind === 'plugin')
      for (const part of partsOf(component.value)) add({ ...given, value: part, stability })
  }
  for (const slot of ownSlots()) put({ kind: 'slot', value: slot }, { value: slot, from: 'the engine' })
  exports.forEach(add)
  for (const action of actionsOfRecords({ ...found, plugins: whole.map(({ plugin }) => plugin) }))
    add({ ...(owners.get(`record ${action.of}`) as Found), value: action.value })
  const { plugin: plugins, stage: stages, action: actions, codec: codecs, provider: providers, signal: signals } = found
  const { guard: guards, slot: slots, service: services, command: commands, record: records } = found
  for (const slot of ownSlots(records.get('model')?.schema)) slots.set(slot.name, slot)
  const report: ReportOf = ({ kind, name }, code, message) =>
    diagnostics.push(inFile(owners.get(`${kind} ${name}`)?.from ?? '', code, message))
  if (!incomplete) checkSlots(stages, slots, report)
  checkUses({ stages, actions, providers, guards, services, commands, incomplete }, report)
  checkRoutes(actions, report)
  if (!incomplete) checkPages({ actions, records }, report)
  checkSections(services, report)
  checkPlaces(records, report)
  if (!incomplete) checkNamed({ stages, records, services, providers }, report)
  const ofPlugins = declaredErrors(whole, diagnostics)
  if (!incomplete) checkCodes(actions, ofPlugins, report)
  const origins = new Map([...services.keys()].map((name) => [name, owners.get(`service ${name}`)?.from ?? '']))
  const components = {
    plugins,
    stages,
    actions,
    errors: ofPlugins,
    codecs,
    providers,
    signals,
    guards,
    slots,
    services,
    origins,
    stable,
    commands,
    records,
  }
  return { registry: { ...components, incomplete: diagnostics.length > 0 }, diagnostics }
}

/** The error codes of plugins; finds those that two declare, or the engine has. */
function declaredErrors(
  plugins: readonly { readonly plugin: Plugin; readonly by: Found }[],
  diagnostics: Diagnostic[],
): Registry['errors'] {
  const found = new Map<string, DeclaredError & { readonly from: string }>()
  // A code of a plugin outside of the product replaces a shipped one, as its components do.
  const isShipped = new Map<string, boolean>()
  for (const { plugin, by } of plugins)
    for (const [code, row] of Object.entries(plugin.errors ?? {})) {
      const owner = Object.hasOwn(errors, code) ? 'the engine' : found.get(code)?.from
      const shipped = by.shipped ?? false
      if (owner === undefined || (isShipped.get(code) === true && !shipped)) {
        found.set(code, { ...row, from: plugin.name })
        isShipped.set(code, shipped)
      } else if (isShipped.get(code) !== false || !shipped)
        diagnostics.push(inFile(by.from, 'duplicate', `the error code "${code}" is already there: ${owner}`))
    }
  return found
}

/** Finds codes that an action says it answers, and nobody declares. */
function checkCodes(actions: ReadonlyMap<string, AnyAction>, declared: Registry['errors'], report: ReportOf): void {
  for (const action of actions.values())
    for (const code of action.errors ?? [])
      if (!Object.hasOwn(errors, code) && !declared.has(code)) {
        const known = [...Object.keys(errors), ...declared.keys()]
        report(action, 'unknown-error', `no error has the code "${code}"${didYouMean(code, known)}`)
      }
}

/** The components of a plugin. */
function partsOf(plugin: Plugin): readonly unknown[] {
  const { stages, actions, codecs, providers, signals, guards, slots, services, commands, records } = plugin
  const lists: (readonly unknown[] | undefined)[] = [
    stages,
    actions,
    codecs,
    providers,
    signals,
    guards,
    slots,
    services,
    commands,
    records,
  ]
  return lists.flatMap((parts) => parts ?? [])
}

/**
 * Finds slots that a stage takes although no stage gives and no plugin declares them, whether or not a pipeline uses
 * the stage.
 */
function checkSlots(
  stages: ReadonlyMap<string, AnyStage>,
  slots: ReadonlyMap<string, AnySlot>,
  report: ReportOf,
): void {
  const known = new Set<string>([
    ...slots.keys(),
    ...[...stages.values()].flatMap(({ provides, gives = [] }) => [...provides, ...gives]),
  ])
  for (const stage of stages.values())
    for (const slot of [...stage.needs, ...(stage.reads ?? []), ...(stage.settles ?? [])]) {
      if (known.has(slot)) continue
      const message = `stage "${stage.name}" takes the slot "${slot}", which no stage gives and nothing declares`
      report(stage, 'unknown-slot', message + didYouMean(slot, known))
    }
}

function inFile(file: string, code: string, message: string): Diagnostic {
  return { file, line: 1, column: 1, code, message }
}
