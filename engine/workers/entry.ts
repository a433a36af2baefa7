import { workerData } from 'node:worker_threads'
import { hookModules } from './modules.ts'

// Lets modules of plugins import the engine in a worker thread as in the main thread.
hookModules()

/** Modules to load, so that the first task need not wait for them. */
export interface Loading {
  /** URLs. */
  readonly load: readonly string[]
}

// A thread takes its first task when this module is loaded.
await load((workerData ?? { load: [] }) as Loading)

/** A task: the URL of a module, and the argument for its default export. */
export interface Task {
  readonly module: string
  readonly input: unknown
}

/** The result: the return value of the default export, or the message of its error. */
export type Done =
  | { readonly output: unknown }
  | { readonly thrown: { readonly name: string; readonly message: string; readonly stack?: string } }

/** Runs in a worker thread. A module is loaded once per thread and keeps its state between calls. */
export default async function work(task: Task | Loading): Promise<Done> {
  if ('load' in task) return load(task)
  const { module, input } = task
  try {
    const { default: run } = (await import(module)) as { default: (input: unknown) => unknown }
    return { output: await run(input) }
  } catch (error) {
    // An error may contain values that cannot be cloned; its message always can be.
    if (!(error instanceof Error)) return { thrown: { name: 'Error', message: String(error) } }
    const { name, message, stack } = error
    return { thrown: { name, message, ...(stack === undefined ? {} : { stack }) } }
  }
}

/** A module that cannot be loaded fails with the tasks that need it. */
async function load({ load: modules }: Loading): Promise<Done> {
  await Promise.allSettled(modules.map((module) => import(module)))
  return { output: undefined }
}
