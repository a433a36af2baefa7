import type { Context } from 'mocha'

/**
 * A test that mostly waits for time itself, such as for a limit of the product. It begins before the first test of its
 * `describe`, beside the others of its kind, so that they wait together. It must share nothing that another test changes.
 */
export function sideBySide(title: string, test: (context: Context) => Promise<void>): void {
  let done: Promise<void>
  before(function () {
    done = test(this)
    // Whoever awaits it hears of its failure.
    done.catch(() => undefined)
  })
  it(title, () => done)
}
