import { words } from './words.ts'
import classes from './catalog.module.css'

/** Vendors and local servers that most people begin with, by the names of their presets. */
const common = ['openrouter', 'mistral', 'deepseek', 'groq', 'xai', 'together', 'ollama', 'vllm']

interface Offer {
  readonly value: string
  readonly label: string
  readonly preset?: { readonly base_url: string }
}

interface PresetCardsProps {
  readonly offers: readonly Offer[]
  readonly chosen: string | null
  readonly onChoose: (value: string) => void
}

/** The common presets, each with the host that it fills in. The list below has all others. */
export function PresetCards({ offers, chosen, onChoose }: PresetCardsProps) {
  const shown = common.flatMap((name) => offers.find(({ label, preset }) => preset && label === name) ?? [])
  return (
    <div className={classes.cards} role="group" aria-label={words.commonPresets}>
      {shown.map(({ value, label, preset }) => (
        <button key={value} type="button" aria-pressed={value === chosen} onClick={() => onChoose(value)}>
          {label} <span>{new URL(preset?.base_url ?? '').host}</span>
        </button>
      ))}
    </div>
  )
}
