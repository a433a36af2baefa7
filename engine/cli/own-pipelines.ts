import { randomUUIDv7 } from 'node:crypto'
import type { Settings } from '../config/settings.ts'
import type { Configuration } from '../records/configuration.ts'
import { dispatcher } from '../live/dispatch.ts'
import { openSnapshot } from '../live/snapshot.ts'
import type { SnapshotOptions } from '../live/snapshot.ts'
import { nothing } from '../live/views.ts'
import type { ServiceViews } from '../live/views.ts'
import { pipelinesIn, stagesOf } from '../pipeline/nodes.ts'
import type { Pipeline } from '../pipeline/nodes.ts'
import type { CommandOutput } from '../spec/command.ts'

/** The part of a configuration that some pipelines need, and the services that its stages and providers use. */
export function needed(
  configuration: Configuration & { readonly settings: Settings },
  names: readonly string[],
): { readonly pipelines: readonly Pipeline[]; readonly uses: readonly string[] } {
  const { pipelines: all, registry, settings } = configuration
  const naming = all.filter(({ stages }) => pipelinesIn(stages).some((name) => names.includes(name)))
  // The loop also visits pipelines that are added meanwhile.
  const kept = new Set(naming)
  for (const { stages, finally: last } of kept)
    for (const name of pipelinesIn([...stages, ...last])) for (const one of all) if (one.name === name) kept.add(one)
  const stages = [...kept].flatMap((pipeline) => stagesOf([...pipeline.stages, ...pipeline.finally]))
  const providers = settings.providers.flatMap(({ type }) => registry.providers.get(type)?.uses ?? [])
  return { pipelines: [...kept], uses: [...stages.flatMap(({ stage }) => stage.uses ?? []), ...providers] }
}

/** Opens a configuration in which nothing is served, to run its pipelines. */
export async function openPipelines(
  configuration: Configuration,
  options: SnapshotOptions,
): Promise<ServiceViews & Pick<CommandOutput, 'dispatch'>> {
  const loading = await openSnapshot(configuration, options)
  if ('diagnostics' in loading) return { ...nothing, ...loading, dispatch: () => Promise.reject(new Error('not open')) }
  const { snapshot } = loading
  const dispatch = dispatcher(() => snapshot, options)
  return {
    ...snapshot.views,
    close: () => snapshot.close(),
    dispatch: (pipeline, given) => dispatch(pipeline, given, { id: randomUUIDv7(), onAbort: () => () => undefined }),
  }
}
