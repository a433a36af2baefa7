import type { Json } from './json.ts'

/** The first of several processes of a gateway. It serves nothing, and lives as long as the gateway. */
export interface FirstProcess {
  /**
   * Asks a module in that process, where it is loaded once, without configuration and stores. Its default export gets
   * the question and the number of the process that asks; its export `left`, if there is one, the number of a process
   * that has ended. Rejects when it throws, or does not answer within 10 seconds.
   */
  ask(module: URL, question: Json): Promise<Json | undefined>
}
