export const words = {
  // Where the address leads to nothing
  noPage: 'There is no page here',
  noPageText: 'No plugin brings a page of this name, or it is not for your role.',
  noRecord: (id: string) => `There is no "${id}" in this list.`,
  notAmong: (id: string, most: string) => `"${id}" is not among the first ${most} of this list.`,

  // The list
  empty: 'There is nothing here yet.',
  emptyFiltered: 'Nothing fits these filters.',
  new: 'New',
  search: 'Search',
  yesNo: { true: 'yes', false: 'no' },

  // One record
  facts: 'Facts',
  newIn: (title: string) => `New in ${title}`,
  delete: 'Delete',
  deleteNamed: (name: string) => `Delete ${name}`,
  deleteRow: 'It is gone for good.',
  deleteRecord: 'It is gone for good. The audit trail keeps who deleted it.',
  deleted: (name: string) => `Deleted ${name}.`,
} as const
