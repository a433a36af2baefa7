import { hookModules } from '../config/modules.ts'

// Lets modules of plugins import the engine in a worker thread as in the main thread.
hookModules()

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
export default async function work({ module, input }: Task): Promise<Done> {
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
