//! The structures of an ELF file, every field (table), and the numbers that are in them.

/// A field of an ELF structure: name, offset in the structure and size, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElfField {
    /// The standard's name.
    pub name: &'static str,
    /// Offset from the start of the structure.
    pub at: u64,
    /// 1, 2 or 4 bytes.
    pub size: u8,
}

const fn place(name: &'static str, at: u64, size: u8) -> ElfField {
    ElfField { name, at, size }
}

/// The fields of one structure, in the order of the file.
macro_rules! places {
    ($(#[doc = $doc:literal])+ $module:ident $total:literal { $( $name:ident $text:literal $at:literal $size:literal; )+ }) => {
        $(#[doc = $doc])+
        #[allow(missing_docs, reason = "the names and their meaning are the ELF standard's")]
        pub mod $module {
            use super::{place, ElfField};
            $( pub const $name: ElfField = place($text, $at, $size); )+
            /// Every field.
            pub const ALL: &[ElfField] = &[ $($name),+ ];
            /// Bytes of the structure.
            pub const SIZE: u64 = $total;
        }
    };
}

places! {
    /// The ELF header; the identification bytes are fields of one byte.
    ehdr 52 {
        MAGIC "e_ident[EI_MAG]" 0 4;
        CLASS "e_ident[EI_CLASS]" 4 1;
        DATA "e_ident[EI_DATA]" 5 1;
        IDENT_VERSION "e_ident[EI_VERSION]" 6 1;
        OSABI "e_ident[EI_OSABI]" 7 1;
        ABIVERSION "e_ident[EI_ABIVERSION]" 8 1;
        TYPE "e_type" 16 2;
        MACHINE "e_machine" 18 2;
        VERSION "e_version" 20 4;
        ENTRY "e_entry" 24 4;
        PHOFF "e_phoff" 28 4;
        SHOFF "e_shoff" 32 4;
        FLAGS "e_flags" 36 4;
        EHSIZE "e_ehsize" 40 2;
        PHENTSIZE "e_phentsize" 42 2;
        PHNUM "e_phnum" 44 2;
        SHENTSIZE "e_shentsize" 46 2;
        SHNUM "e_shnum" 48 2;
        SHSTRNDX "e_shstrndx" 50 2;
    }
}

places! {
    /// A program header.
    phdr 32 {
        TYPE "p_type" 0 4;
        OFFSET "p_offset" 4 4;
        VADDR "p_vaddr" 8 4;
        PADDR "p_paddr" 12 4;
        FILESZ "p_filesz" 16 4;
        MEMSZ "p_memsz" 20 4;
        FLAGS "p_flags" 24 4;
        ALIGN "p_align" 28 4;
    }
}

places! {
    /// A section header.
    shdr 40 {
        NAME "sh_name" 0 4;
        TYPE "sh_type" 4 4;
        FLAGS "sh_flags" 8 4;
        ADDR "sh_addr" 12 4;
        OFFSET "sh_offset" 16 4;
        SIZE_BYTES "sh_size" 20 4;
        LINK "sh_link" 24 4;
        INFO "sh_info" 28 4;
        ADDRALIGN "sh_addralign" 32 4;
        ENTSIZE "sh_entsize" 36 4;
    }
}

places! {
    /// A symbol.
    sym 16 {
        NAME "st_name" 0 4;
        VALUE "st_value" 4 4;
        SIZE_BYTES "st_size" 8 4;
        INFO "st_info" 12 1;
        OTHER "st_other" 13 1;
        SHNDX "st_shndx" 14 2;
    }
}

places! {
    /// The head of a note; name and contents follow, each padded to four bytes.
    nhdr 12 {
        NAMESZ "namesz" 0 4;
        DESCSZ "descsz" 4 4;
        TYPE "type" 8 4;
    }
}

/// `\x7fELF`, as a little-endian word.
pub const MAGIC: u32 = 0x464c_457f;
/// `e_ident[EI_CLASS]`: 32 bits.
pub const CLASS_32: u64 = 1;
/// `e_ident[EI_DATA]`: little-endian.
pub const DATA_LITTLE: u64 = 1;
/// `e_type`: relocatable file.
pub const TYPE_REL: u64 = 1;
/// `e_type`: executable file.
pub const TYPE_EXEC: u64 = 2;
/// `p_type`: a loadable segment.
pub const PT_LOAD: u32 = 1;
/// `p_type`: notes.
pub const PT_NOTE: u32 = 4;
/// `sh_type`: contents defined by the program.
pub const SHT_PROGBITS: u32 = 1;
/// `sh_type`: symbols.
pub const SHT_SYMTAB: u32 = 2;
/// `sh_type`: strings.
pub const SHT_STRTAB: u32 = 3;
/// `sh_type`: notes.
pub const SHT_NOTE: u32 = 7;
/// `sh_type`: takes no room in the file.
pub const SHT_NOBITS: u32 = 8;
/// `sh_flags`: takes memory when the program runs.
pub const SHF_ALLOC: u32 = 2;
/// `sh_flags`: instructions.
pub const SHF_EXECINSTR: u32 = 4;
/// `st_shndx`: the value is not an address.
pub const SHN_ABS: u16 = 0xfff1;
