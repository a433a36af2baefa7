import { useState } from 'react'
import { Segments } from '../../parts/Segments.tsx'
import { Speech } from './Speech.tsx'
import { Transcription } from './Transcription.tsx'
import { words } from './words.ts'
import classes from './playground.module.css'

const directions = (['speech', 'transcription'] as const).map((value) => ({ value, label: words.directions[value] }))

/** Speech of a text, or the text of a recording. */
export default function Audio() {
  const [direction, setDirection] = useState<(typeof directions)[number]['value']>('speech')
  return (
    <>
      <div className={classes.directions}>
        <Segments label={words.direction} options={directions} value={direction} onChange={setDirection} />
      </div>
      {direction === 'speech' ? <Speech /> : <Transcription />}
    </>
  )
}
