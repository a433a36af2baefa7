import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves once `condition` holds, however long that takes. Its pauses leave the processor to what it waits for. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(5)
}
