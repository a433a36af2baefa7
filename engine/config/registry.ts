import { isAbsolute, relative } from 'node:path'
import type { EitherCodec } from '../spec/codec.ts'
import type { AnyCommand } from '../spec/command.ts'
import type { Plugin } from '../spec/plugin.ts'
import type { AnyProvider } from '../spec/provider.ts'
import type { AnyRecord } from '../spec/record.ts'
import type { AnyService } from '../spec/service.ts'
import type { AnySignal } from '../spec/signal.ts'
import type { AnySlot } from '../spec/slot.ts'
import type { AnyStage } from '../spec/stage.ts'
import { problemOfSchemas, recognise } from './components.ts'
import type { Component } from './components.ts'
import type { Diagnostic } from './diagnostics.ts'
import { ownSlots } from './own-slots.ts'
import { checkNamed, checkPlaces } from './record-types.ts'
import { checkSections } from './sections.ts'
import { didYouMean } from './suggest.ts'
import { checkUses } from './uses.ts'
import type { ReportOf } from './uses.ts'

/** Every component of a configuration, by the word an operator writes. */
export interface Registry {
  readonly plugins: ReadonlyMap<string, Plugin>
  readonly stages: ReadonlyMap<string, AnyStage>
  /** By protocol. */
  readonly codecs: ReadonlyMap<string, EitherCodec>
  /** By type. */
  readonly providers: ReadonlyMap<string, AnyProvider>
  readonly signals: ReadonlyMap<string, AnySignal>
  /** Those of the engine, and those that plugins declare. */
  readonly slots: ReadonlyMap<string, AnySlot>
  readonly services: ReadonlyMap<string, AnyService>
  /** By their words. */
  readonly commands: ReadonlyMap<string, AnyCommand>
  /** Types of records. */
  readonly records: ReadonlyMap<string, AnyRecord>
  /** A plugin could not be loaded: a word that nothing here knows may be one of its. */
  readonly incomplete: boolean
}

/** A default export and the file or package it came from. */
export interface Found {
  readonly value: unknown
  readonly from: string
  /** The product brings it: what others bring under the same name takes its place. */
  readonly shipped?: boolean
}

/**
 * A registry of default exports; plugins are opened. Wrong components, and names that are taken by others than the
 * product, are diagnostics.
 * @param incomplete some plugin could not be loaded: an unknown name may be one of its
 */
export function assemble(
  found: readonly Found[],
  incomplete = false,
): { registry: Registry; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  const owners = new Map<string, Found>()
  const plugins = new Map<string, Plugin>()
  const stages = new Map<string, AnyStage>()
  const codecs = new Map<string, EitherCodec>()
  const providers = new Map<string, AnyProvider>()
  const signals = new Map<string, AnySignal>()
  const slots = new Map<string, AnySlot>()
  const services = new Map<string, AnyService>()
  const commands = new Map<string, AnyCommand>()
  const records = new Map<string, AnyRecord>()
  const put = <T>(map: Map<string, T>, kind: Component['kind'], name: string, value: T, by: Found) => {
    const owner = owners.get(`${kind} ${name}`)
    if (owner !== undefined && (owner.shipped ?? false) === (by.shipped ?? false))
      return diagnostics.push(inFile(by.from, 'duplicate', `the ${kind} "${name}" is already there: ${owner.from}`))
    owners.set(`${kind} ${name}`, by)
    return map.set(name, value)
  }
  const add = (given: Found): unknown => {
    const component = recognise(given.value)
    const wrong = (problem: string) => diagnostics.push(inFile(given.from, 'component', problem))
    if ('problem' in component) return wrong(component.problem)
    // Those of the product are tried by its tests: at each start, that would take longer than most of what is done there.
    const flaw = given.shipped ? undefined : problemOfSchemas(component)
    if (flaw !== undefined) return wrong(flaw.problem)
    switch (component.kind) {
      case 'plugin': {
        const {
          name,
          stages: inner = [],
          codecs: spoken = [],
          providers: types = [],
          signals: votes = [],
          slots: values = [],
          services: shared = [],
          commands: words = [],
          records: kept = [],
        } = component.value
        put(plugins, 'plugin', name, component.value, given)
        return [...inner, ...spoken, ...types, ...votes, ...values, ...shared, ...words, ...kept].forEach((part) =>
          add({ ...given, value: part }),
        )
      }
      case 'stage':
        return put(stages, 'stage', component.value.name, component.value, given)
      case 'codec':
        return put(codecs, 'codec', component.value.protocol, component.value, given)
      case 'provider':
        return put(providers, 'provider', component.value.name, component.value, given)
      case 'signal':
        return put(signals, 'signal', component.value.name, component.value, given)
      case 'slot':
        return put(slots, 'slot', component.value.name, component.value, given)
      case 'service':
        return put(services, 'service', component.value.name, component.value, given)
      case 'command':
        return put(commands, 'command', component.value.name, component.value, given)
      case 'record':
        return put(records, 'record', component.value.name, component.value, given)
    }
  }
  for (const slot of ownSlots()) put(slots, 'slot', slot.name, slot, { value: slot, from: 'the engine' })
  found.forEach(add)
  for (const slot of ownSlots(records.get('model')?.schema)) slots.set(slot.name, slot)
  const report: ReportOf = ({ kind, name }, code, message) =>
    diagnostics.push(inFile(owners.get(`${kind} ${name}`)?.from ?? '', code, message))
  if (!incomplete) checkSlots(stages, slots, report)
  checkUses({ stages, providers, services, commands, incomplete }, report)
  checkSections(services, report)
  checkPlaces(records, report)
  if (!incomplete) checkNamed({ stages, records, services, providers }, report)
  const components = { plugins, stages, codecs, providers, signals, slots, services, commands, records }
  return { registry: { ...components, incomplete: diagnostics.length > 0 }, diagnostics }
}

/** Finds slots that a stage takes and nothing gives or declares, used in a pipeline or not. */
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

/** A file's name as diagnostics show it: relative to `root` when it lies below. */
export function display(file: string, root: string): string {
  const name = relative(root, file)
  return name.startsWith('..') || isAbsolute(name) ? file : name
}

function inFile(file: string, code: string, message: string): Diagnostic {
  return { file, line: 1, column: 1, code, message }
}
