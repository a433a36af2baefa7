import '@mantine/core/styles/Input.layer.css'
import { Textarea } from '@mantine/core'
import { useState } from 'react'
import { Confirm } from '../../parts/Confirm.tsx'
import { checkpointsIn } from './checkpoints.ts'
import type { Checkpoint } from './checkpoints.ts'
import { words } from './words.ts'
import classes from './audit.module.css'

interface CompareCheckpointsProps {
  readonly onCompare: (checkpoints: readonly Checkpoint[]) => Promise<unknown>
  readonly onClose: () => void
}

/** Asks for checkpoints that were kept elsewhere: whoever changed the database could not change them, too. */
export function CompareCheckpoints({ onCompare, onClose }: CompareCheckpointsProps) {
  const [text, setText] = useState('')
  const { found, wrong } = checkpointsIn(text)
  const compare = async () => {
    await onCompare(found)
    onClose()
  }
  return (
    <Confirm
      title={words.compare}
      action={words.compareAction(found.length)}
      ready={found.length > 0 && wrong === undefined}
      onConfirm={compare}
      onClose={onClose}
    >
      <Textarea
        label={words.checkpointsLabel}
        description={words.checkpointsHint}
        error={
          wrong === undefined
            ? text.trim() !== '' && found.length === 0 && words.noCheckpoint
            : words.wrongCheckpoint(wrong)
        }
        classNames={{ input: classes.lines ?? '' }}
        rows={8}
        value={text}
        spellCheck={false}
        data-autofocus=""
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </Confirm>
  )
}
