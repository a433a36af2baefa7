import { hookModules } from '../config/modules.ts'

// Modules of plugins import the engine here as they do in the main thread.
hookModules()

/** What a worker is asked: the address of a module, and the value for its default export. */
export interface Task {
  readonly module: string
  readonly input: unknown
}

/** What it says: what the default export gave, or the text of what it threw. */
export type Done =
  | { readonly output: unknown }
  | { readonly thrown: { readonly name: string; readonly message: string; readonly stack?: string } }

/** Runs in a worker thread. A module is loaded once per thread and keeps its state between calls. */
export default async function work({ module, input }: Task): Promise<Done> {
  try {
    const { default: run } = (await import(module)) as { default: (input: unknown) => unknown }
    return { output: await run(input) }
  } catch (error) {
    // An error may hold what cannot leave the thread; its text always can.
    if (!(error instanceof Error)) return { thrown: { name: 'Error', message: String(error) } }
    const { name, message, stack } = error
    return { thrown: { name, message, ...(stack === undefined ? {} : { stack }) } }
  }
}
