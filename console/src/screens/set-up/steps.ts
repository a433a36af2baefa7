/** The steps after the first account, in order. */
export const steps = ['provider', 'models', 'key'] as const
export type Step = (typeof steps)[number]

/** Where each step leads when it is left out; without a key nothing can be asked. */
export const after: Readonly<Record<Step, string>> = { provider: '/setup/models', models: '/setup/key', key: '/' }

/** What a step hands to the next one, in the address. */
export interface StepProps {
  readonly onDone: (next: string, search?: Readonly<Record<string, string>>) => void
}
