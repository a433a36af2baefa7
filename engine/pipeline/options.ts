import { duration, isDuration } from '../spec/duration.ts'
import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import type { FromSettings } from './nodes.ts'

interface OptionSchema {
  readonly properties?: Readonly<Record<string, object | boolean>> | undefined
}

/** The settings that the schema of a step names (`x-setting`) for options that are not written. */
export function unwrittenOptions({ properties = {} }: OptionSchema, given: Json): FromSettings {
  const found = Object.entries(properties).flatMap(([name, option]): [string, string][] => {
    const { 'x-setting': setting } = option as { readonly 'x-setting'?: string }
    return setting === undefined || (isObject(given) && given[name] !== undefined) ? [] : [[name, setting]]
  })
  return Object.fromEntries(found)
}

/**
 * The options of a step, with the values of settings for those that are not written. A setting that no section has
 * leaves the default of the option.
 * @param sections `server_config` with defaults filled in
 */
export function withSettings(options: JsonObject, from: FromSettings, sections: JsonObject): JsonObject {
  const found = Object.entries(from).flatMap(([name, setting]): [string, Json][] => {
    const value = valueAlong(sections, setting.split('.'))
    return value === undefined ? [] : [[name, value]]
  })
  return found.length === 0 ? options : { ...options, ...Object.fromEntries(found) }
}

/** Milliseconds of an option. A text that is no duration is reported with the schema, and the pipeline does not run. */
export function milliseconds(option: Json | undefined): number {
  return isDuration(option) ? duration(option) : 0
}

export function valueAlong(value: Json | undefined, path: readonly (string | number)[]): Json | undefined {
  return path.reduce<Json | undefined>((held, step) => {
    if (typeof step === 'number') return Array.isArray(held) ? held[step] : undefined
    return isObject(held) ? held[step] : undefined
  }, value)
}
