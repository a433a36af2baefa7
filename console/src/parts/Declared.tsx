import { CopyButton } from './CopyButton.tsx'
import { Icon } from './Icon.tsx'
import { shared } from '../words.ts'
import classes from './Notice.module.css'

/** Says that a record stands in the configuration file, at `path:line`, where alone it can be changed. */
export function Declared({ at }: { readonly at: string | null }) {
  return (
    <div className={`${classes.notice} ${classes.declared}`}>
      <Icon name="lock" size={14} />
      <span>{shared.declared(at ?? shared.configurationFile)}</span>
      {at !== null && <CopyButton text={at} what={shared.path} />}
    </div>
  )
}
