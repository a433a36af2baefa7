import { signOut } from '../../api/account.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { toastError } from '../../parts/toast.tsx'
import { words } from './words.ts'
import classes from './account.module.css'

/** Ends every session of the user. */
export function Sessions() {
  return (
    <Card title={words.sessions}>
      <div className={classes.stack}>
        <p className={classes.text}>{words.everywhereText}</p>
        <Button onClick={() => void signOut({ everywhere: true }).catch(toastError)}>{words.everywhere}</Button>
      </div>
    </Card>
  )
}
