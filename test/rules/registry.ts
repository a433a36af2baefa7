import type { Registry } from '../../engine/config/registry.ts'
import { loadConfiguration } from '../../engine/live/load-configuration.ts'
import type { Configuration } from '../../engine/records/configuration.ts'
import { root } from './sources.ts'

let loading: Promise<Configuration> | undefined

/** The shipped configuration, read once; the environment has no part in it. */
export function configuration(): Promise<Configuration> {
  loading ??= loadConfiguration({ file: 'config/sluice.yaml', root, environment: {} })
  return loading
}

/** Everything that the shipped plugins bring. */
export async function registry(): Promise<Registry> {
  return (await configuration()).registry
}
