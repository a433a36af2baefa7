import type { Advice } from '../proof/check-duties.ts'
import type { Pipeline } from '../pipeline/nodes.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import type { Overridden } from '../config/placed-settings.ts'
import type { RecordSet } from './records.ts'
import type { Registry } from '../config/registry.ts'
import type { SectionSet } from './sections.ts'
import type { Settings } from '../config/settings.ts'
import type { Source } from '../config/source.ts'
import type { LeftOut } from './stored-records.ts'
import type { Vendors } from './vendors.ts'

/** A configuration as loaded and checked; nothing is opened or built. */
export interface Configuration {
  readonly source: Source
  /** Present: the file adds what the environment switches on in the built-in configuration. */
  readonly vendors?: Vendors
  /** Both files, as far as they were read. */
  readonly sources: readonly Source[]
  /** The expected configuration file, if it does not exist and the shipped configuration is used. */
  readonly without?: string
  /** Present: the file has nothing in it, not even a comment. That is no mistake, unless it had something before. */
  readonly blank?: Diagnostic
  /** Absent when the configuration file has mistakes. */
  readonly settings: Settings | undefined
  /** The records declared in the files that their schemas accept. */
  readonly records: RecordSet
  /** The sections of `server_config`, and the settings that the environment overrides. */
  readonly sections: SectionSet
  readonly overridden: readonly Overridden[]
  readonly registry: Registry
  readonly pipelines: readonly Pipeline[]
  /** Sorted; empty: no mistakes. */
  readonly diagnostics: readonly Diagnostic[]
  /** Probable mistakes that do not prevent serving. */
  readonly warnings: readonly Diagnostic[]
  /** Warnings that depend on settings, also on those that hold no longer. */
  readonly advice: readonly Advice[]
  /** What an operator wants on purpose, and should not forget. */
  readonly notes: readonly Diagnostic[]
  /** Lines that name the records that are off, with the reason. */
  readonly off: readonly string[]
  /** The unset variables that switch records off, where they stand; none in the configuration of the product. */
  readonly unset: readonly Diagnostic[]
  /**
   * Revision of the stored records it contains, and the stored records left out because they contradict the rest;
   * absent: only the file was loaded.
   */
  readonly revision?: number
  readonly leftOut?: readonly LeftOut[]
  /** Hash of the contents as they were read, so that a file that changes during loading gives a new hash next time. */
  readonly version: string
  /** The same without the stored records. */
  readonly fileVersion: string
  /** The files it was loaded from, and the folders to watch for changes. */
  readonly files: readonly string[]
  readonly folders: readonly string[]
}
