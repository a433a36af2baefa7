import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { Confirm } from '../../parts/Confirm.tsx'
import { TypedName } from '../../parts/ConfirmName.tsx'
import { SecretOnce } from '../../parts/SecretOnce.tsx'
import { Segments } from '../../parts/Segments.tsx'
import type { Key, KeyWithText } from './api.ts'
import { useKeysPath, useShowKey } from './change.ts'
import { words } from './words.ts'
import classes from './keys.module.css'

/** How long the text before goes on to be accepted. */
const graces = ['1h', '1d', '7d', '0s'] as const

/** Gives a key another text. Without a grace its name has to be typed, since clients fail at once. */
export function Rotate({ record, onClose }: { readonly record: Key; readonly onClose: () => void }) {
  const path = useKeysPath()
  const show = useShowKey()
  const [grace, setGrace] = useState<(typeof graces)[number]>('1d')
  const [typed, setTyped] = useState('')
  const [made, setMade] = useState<KeyWithText>()
  const { id, name, version } = record
  const isAtOnce = grace === '0s'
  const rotate = async () => {
    const answer = await ask<KeyWithText>('POST', `${path}/${encodeURIComponent(id)}/rotate`, {
      body: { grace },
      ifMatch: version,
    })
    const { key: _text, ...now } = answer
    show(now)
    setMade(answer)
  }
  if (made)
    return (
      <SecretOnce
        title={words.newKey}
        label={words.key}
        secret={made.key}
        text={isAtOnce ? words.newKeyText(name) : words.rotatedText(name, words.graces[grace])}
        onKept={onClose}
      />
    )
  return (
    <Confirm
      title={words.rotateTitle(name)}
      action={words.rotateNamed(name)}
      look={isAtOnce ? 'danger' : 'primary'}
      ready={!isAtOnce || typed === name}
      onConfirm={rotate}
      onClose={onClose}
    >
      <p className={classes.text}>{words.rotateText}</p>
      <Segments
        label={words.grace}
        options={graces.map((value) => ({ value, label: words.graces[value] }))}
        value={grace}
        onChange={setGrace}
      />
      {isAtOnce && <TypedName name={name} typed={typed} onChange={setTyped} />}
    </Confirm>
  )
}
