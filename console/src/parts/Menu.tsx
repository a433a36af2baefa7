import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/Menu.layer.css'
import { Menu as MantineMenu } from '@mantine/core'
import type { MenuProps } from '@mantine/core'
import classes from './Menu.module.css'

/** Mantine's menu with the looks of the console: `Menu.Target`, `Menu.Dropdown`, `Menu.Item`, `Menu.RadioGroup`. */
export function Menu(props: MenuProps) {
  return (
    <MantineMenu
      position="bottom-end"
      offset={6}
      withInitialFocusPlaceholder={false}
      transitionProps={{ duration: 120, transition: 'fade' }}
      classNames={{ dropdown: classes.dropdown ?? '', item: classes.item ?? '', label: classes.label ?? '' }}
      {...props}
    />
  )
}

Menu.Target = MantineMenu.Target
Menu.Dropdown = MantineMenu.Dropdown
Menu.Item = MantineMenu.Item
Menu.Label = MantineMenu.Label
Menu.Divider = MantineMenu.Divider
Menu.RadioGroup = MantineMenu.RadioGroup
Menu.RadioItem = MantineMenu.RadioItem
Menu.CheckboxItem = MantineMenu.CheckboxItem
