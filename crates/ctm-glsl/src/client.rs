//! A small OpenGL client on EGL's surfaceless platform.
//!
//! It compiles and links a pair of shaders, gives every uniform, block and texture a value of its own, draws one triangle, and prints OpenGL's
//! description of the pair. Libraries are opened when they are needed; one that is missing is an error that names its package.

#![allow(unsafe_code)] // EGL and OpenGL are C; each block says why it is sound.

use crate::types::{self, ComponentType, by_number, sampler_by_number};
use libloading::Library;
use serde_json::{Value, json};
use std::ffi::{CStr, CString, c_char, c_void};

/// The sources to compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShaderSources {
    /// The vertex shader.
    pub vertex: String,
    /// The fragment shader.
    pub fragment: String,
}

/// Which shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The vertex shader.
    Vertex,
    /// The fragment shader.
    Fragment,
    /// Both, linked.
    Link,
}

/// The reason why a pair has no description.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failed {
    /// A library cannot be opened.
    Missing {
        /// Its name.
        library: &'static str,
        /// The Debian packages that it is in.
        packages: &'static str,
        /// The linker's message.
        reason: String,
    },
    /// EGL or OpenGL lack a required feature.
    Driver(String),
    /// The compiler refuses a shader, in its words.
    Shader(Stage, String),
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing { library, packages, reason } => {
                write!(f, "{library} cannot be opened ({reason}); on Debian it comes with {packages}")
            }
            Self::Driver(what) => f.write_str(what),
            Self::Shader(Stage::Vertex, log) => write!(f, "the vertex shader does not compile: {log}"),
            Self::Shader(Stage::Fragment, log) => write!(f, "the fragment shader does not compile: {log}"),
            Self::Shader(Stage::Link, log) => write!(f, "the shaders do not link: {log}"),
        }
    }
}

impl std::error::Error for Failed {}

type Handle = *mut c_void;

/// A row is a function: the name here, OpenGL's or EGL's name, arguments and result.
macro_rules! functions {
    ($struct:ident: $($name:ident = $c:literal ( $($argument:ident : $type:ty),* ) $(-> $out:ty)?;)*) => {
        struct $struct {
            $($name: unsafe extern "C" fn($($type),*) $(-> $out)?,)*
        }

        impl $struct {
            fn load(find: impl Fn(&CStr) -> Option<Handle>) -> Result<Self, Failed> {
                Ok(Self {
                    $($name: {
                        let found = find($c).filter(|found| !found.is_null());
                        let found = found.ok_or_else(|| Failed::Driver(format!("there is no {}", $c.to_string_lossy())))?;
                        // SAFETY: the function of this name has these arguments, as its specification says.
                        unsafe { std::mem::transmute::<Handle, unsafe extern "C" fn($($type),*) $(-> $out)?>(found) }
                    },)*
                })
            }
        }
    };
}

functions! { Egl:
    get_platform_display = c"eglGetPlatformDisplay"(platform: u32, native: Handle, attributes: *const isize) -> Handle;
    initialize = c"eglInitialize"(display: Handle, major: *mut i32, minor: *mut i32) -> u32;
    bind_api = c"eglBindAPI"(api: u32) -> u32;
    create_context = c"eglCreateContext"(display: Handle, config: Handle, share: Handle, attributes: *const i32) -> Handle;
    make_current = c"eglMakeCurrent"(display: Handle, draw: Handle, read: Handle, context: Handle) -> u32;
    terminate = c"eglTerminate"(display: Handle) -> u32;
    get_proc_address = c"eglGetProcAddress"(name: *const c_char) -> Handle;
}

functions! { Gl:
    get_string = c"glGetString"(name: u32) -> *const c_char;
    create_shader = c"glCreateShader"(kind: u32) -> u32;
    shader_source = c"glShaderSource"(shader: u32, count: i32, texts: *const *const c_char, lengths: *const i32);
    compile_shader = c"glCompileShader"(shader: u32);
    get_shader = c"glGetShaderiv"(shader: u32, name: u32, to: *mut i32);
    get_shader_log = c"glGetShaderInfoLog"(shader: u32, room: i32, length: *mut i32, to: *mut c_char);
    create_program = c"glCreateProgram"() -> u32;
    attach_shader = c"glAttachShader"(program: u32, shader: u32);
    link_program = c"glLinkProgram"(program: u32);
    get_program = c"glGetProgramiv"(program: u32, name: u32, to: *mut i32);
    get_program_log = c"glGetProgramInfoLog"(program: u32, room: i32, length: *mut i32, to: *mut c_char);
    use_program = c"glUseProgram"(program: u32);
    get_active_attribute = c"glGetActiveAttrib"(program: u32, index: u32, room: i32, length: *mut i32, size: *mut i32, kind: *mut u32, name: *mut c_char);
    get_attribute_location = c"glGetAttribLocation"(program: u32, name: *const c_char) -> i32;
    get_active_uniform = c"glGetActiveUniform"(program: u32, index: u32, room: i32, length: *mut i32, size: *mut i32, kind: *mut u32, name: *mut c_char);
    get_uniform_location = c"glGetUniformLocation"(program: u32, name: *const c_char) -> i32;
    get_active_uniforms = c"glGetActiveUniformsiv"(program: u32, count: i32, indices: *const u32, name: u32, to: *mut i32);
    get_block = c"glGetActiveUniformBlockiv"(program: u32, block: u32, name: u32, to: *mut i32);
    get_block_name = c"glGetActiveUniformBlockName"(program: u32, block: u32, room: i32, length: *mut i32, name: *mut c_char);
    block_binding = c"glUniformBlockBinding"(program: u32, block: u32, binding: u32);
    get_interface = c"glGetProgramInterfaceiv"(program: u32, interface: u32, name: u32, to: *mut i32);
    get_resource = c"glGetProgramResourceiv"(program: u32, interface: u32, index: u32, count: i32, names: *const u32, room: i32, length: *mut i32, to: *mut i32);
    uniform_1i = c"glUniform1i"(location: i32, value: i32);
    uniform_1fv = c"glUniform1fv"(location: i32, count: i32, values: *const f32);
    uniform_2fv = c"glUniform2fv"(location: i32, count: i32, values: *const f32);
    uniform_3fv = c"glUniform3fv"(location: i32, count: i32, values: *const f32);
    uniform_4fv = c"glUniform4fv"(location: i32, count: i32, values: *const f32);
    uniform_1iv = c"glUniform1iv"(location: i32, count: i32, values: *const i32);
    uniform_2iv = c"glUniform2iv"(location: i32, count: i32, values: *const i32);
    uniform_3iv = c"glUniform3iv"(location: i32, count: i32, values: *const i32);
    uniform_4iv = c"glUniform4iv"(location: i32, count: i32, values: *const i32);
    uniform_1uiv = c"glUniform1uiv"(location: i32, count: i32, values: *const u32);
    uniform_2uiv = c"glUniform2uiv"(location: i32, count: i32, values: *const u32);
    uniform_3uiv = c"glUniform3uiv"(location: i32, count: i32, values: *const u32);
    uniform_4uiv = c"glUniform4uiv"(location: i32, count: i32, values: *const u32);
    uniform_matrix_2 = c"glUniformMatrix2fv"(location: i32, count: i32, transpose: u8, values: *const f32);
    uniform_matrix_3 = c"glUniformMatrix3fv"(location: i32, count: i32, transpose: u8, values: *const f32);
    uniform_matrix_4 = c"glUniformMatrix4fv"(location: i32, count: i32, transpose: u8, values: *const f32);
    uniform_matrix_2x3 = c"glUniformMatrix2x3fv"(location: i32, count: i32, transpose: u8, values: *const f32);
    uniform_matrix_2x4 = c"glUniformMatrix2x4fv"(location: i32, count: i32, transpose: u8, values: *const f32);
    uniform_matrix_3x2 = c"glUniformMatrix3x2fv"(location: i32, count: i32, transpose: u8, values: *const f32);
    uniform_matrix_3x4 = c"glUniformMatrix3x4fv"(location: i32, count: i32, transpose: u8, values: *const f32);
    uniform_matrix_4x2 = c"glUniformMatrix4x2fv"(location: i32, count: i32, transpose: u8, values: *const f32);
    uniform_matrix_4x3 = c"glUniformMatrix4x3fv"(location: i32, count: i32, transpose: u8, values: *const f32);
    gen_buffers = c"glGenBuffers"(count: i32, to: *mut u32);
    bind_buffer = c"glBindBuffer"(target: u32, buffer: u32);
    bind_buffer_base = c"glBindBufferBase"(target: u32, index: u32, buffer: u32);
    buffer_data = c"glBufferData"(target: u32, bytes: isize, data: *const c_void, usage: u32);
    gen_vertex_arrays = c"glGenVertexArrays"(count: i32, to: *mut u32);
    bind_vertex_array = c"glBindVertexArray"(array: u32);
    enable_attribute = c"glEnableVertexAttribArray"(location: u32);
    attribute = c"glVertexAttribPointer"(location: u32, size: i32, kind: u32, normalized: u8, stride: i32, offset: *const c_void);
    attribute_integer = c"glVertexAttribIPointer"(location: u32, size: i32, kind: u32, stride: i32, offset: *const c_void);
    gen_textures = c"glGenTextures"(count: i32, to: *mut u32);
    active_texture = c"glActiveTexture"(unit: u32);
    bind_texture = c"glBindTexture"(target: u32, texture: u32);
    texture_parameter = c"glTexParameteri"(target: u32, name: u32, value: i32);
    texture_1d = c"glTexImage1D"(target: u32, level: i32, inner: i32, columns: i32, border: i32, format: u32, kind: u32, data: *const c_void);
    texture_2d = c"glTexImage2D"(target: u32, level: i32, inner: i32, columns: i32, rows: i32, border: i32, format: u32, kind: u32, data: *const c_void);
    texture_3d = c"glTexImage3D"(target: u32, level: i32, inner: i32, columns: i32, rows: i32, slices: i32, border: i32, format: u32, kind: u32, data: *const c_void);
    gen_framebuffers = c"glGenFramebuffers"(count: i32, to: *mut u32);
    bind_framebuffer = c"glBindFramebuffer"(target: u32, framebuffer: u32);
    framebuffer_texture = c"glFramebufferTexture2D"(target: u32, attachment: u32, kind: u32, texture: u32, level: i32);
    check_framebuffer = c"glCheckFramebufferStatus"(target: u32) -> u32;
    draw_buffers = c"glDrawBuffers"(count: i32, buffers: *const u32);
    viewport = c"glViewport"(x: i32, y: i32, columns: i32, rows: i32);
    draw_arrays = c"glDrawArrays"(mode: u32, first: i32, count: i32);
    finish = c"glFinish"();
}

const VERTEX_SHADER: u32 = 0x8b31;
const FRAGMENT_SHADER: u32 = 0x8b30;
const COMPILE_STATUS: u32 = 0x8b81;
const LINK_STATUS: u32 = 0x8b82;
const INFO_LOG_LENGTH: u32 = 0x8b84;
const ACTIVE_UNIFORMS: u32 = 0x8b86;
const ACTIVE_ATTRIBUTES: u32 = 0x8b89;
const ACTIVE_BLOCKS: u32 = 0x8a36;
const UNIFORM_BLOCK_INDEX: u32 = 0x8a3a;
const UNIFORM_OFFSET: u32 = 0x8a3b;
const BLOCK_DATA_SIZE: u32 = 0x8a40;
const UNIFORM_BUFFER: u32 = 0x8a11;
const ARRAY_BUFFER: u32 = 0x8892;
const STATIC_DRAW: u32 = 0x88e4;
const PROGRAM_OUTPUT: u32 = 0x92e4;
const ACTIVE_RESOURCES: u32 = 0x92f5;
const RESOURCE_LOCATION: u32 = 0x930e;
const ARRAY_SIZE: u32 = 0x92fb;
const FLOAT: u32 = 0x1406;
const INT: u32 = 0x1404;
const UNSIGNED_INT: u32 = 0x1405;
const UNSIGNED_BYTE: u32 = 0x1401;
const RGBA: u32 = 0x1908;
const RGBA8: i32 = 0x8058;
const DEPTH_COMPONENT: u32 = 0x1902;
const DEPTH_COMPONENT16: i32 = 0x81a5;
const FRAMEBUFFER: u32 = 0x8d40;
const COLOR_ATTACHMENT0: u32 = 0x8ce0;
const TEXTURE0: u32 = 0x84c0;

/// The first of the bit patterns that uniforms get: as floats they are whole numbers from 8,388,608 on, which nothing else has.
const FIRST_PATTERN: u32 = 0x4b00_0000;

/// Runs in a process in which a Radeon appears, and captures it: compiles, links and draws the pair, and returns OpenGL's description of it, for
/// [`pair`](crate::pair()).
///
/// # Errors
/// A library that is missing, a driver that is not there, a shader that does not compile.
pub fn reflect(wanted: &ShaderSources) -> Result<Value, Failed> {
    let library = "libEGL.so.1";
    let missing = |reason: libloading::Error| Failed::Missing {
        library,
        packages: "libegl1 and libegl-mesa0; the driver is in libgl1-mesa-dri",
        reason: reason.to_string(),
    };
    // SAFETY: opening EGL runs its initialisers, which any program may do.
    let opened = unsafe { Library::new(library) }.map_err(missing)?;
    // SAFETY: symbols are used as pointers only, and the library stays open.
    let find = |name: &CStr| unsafe { opened.get::<Handle>(name.to_bytes_with_nul()).ok()?.try_as_raw_ptr() };
    let egl = Egl::load(find)?;
    // The library is left open: drivers have threads that run to the end of the process.
    std::mem::forget(opened);
    let (display, context) = context(&egl, &wanted.vertex)?;
    // SAFETY: a C string, and EGL is there.
    let gl = Gl::load(|name| Some(unsafe { (egl.get_proc_address)(name.as_ptr()) }))?;
    // SAFETY: a current context; the version is a C string.
    let version = unsafe { CStr::from_ptr((gl.get_string)(0x1f02)) }.to_string_lossy().into_owned();
    let client = Client { gl, pattern: std::cell::Cell::new(FIRST_PATTERN), version };
    let told = client.run(wanted);
    // SAFETY: both are EGL's, and are not used afterwards.
    unsafe {
        (egl.make_current)(display, std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
        let _ = context;
        (egl.terminate)(display);
    }
    told
}

/// A current context: of the core profile for shaders of today, of the old kind for those that say no version or one before 1.40.
fn context(egl: &Egl, shader: &str) -> Result<(Handle, Handle), Failed> {
    const PLATFORM_SURFACELESS: u32 = 0x31dd;
    const OPENGL_API: u32 = 0x30a2;
    let version = shader.lines().find_map(|line| line.trim_start().strip_prefix("#version"));
    let number: u32 = version.and_then(|v| v.split_whitespace().next()?.parse().ok()).unwrap_or(110);
    let is_old = number < 140 && number != 100;
    let null = std::ptr::null_mut();
    let failed = |what: &str| Failed::Driver(format!("{what}; on Debian the driver is in libgl1-mesa-dri"));
    // SAFETY: EGL's functions with the arguments that its specification allows: no attributes, no configuration, no surfaces.
    unsafe {
        let display = (egl.get_platform_display)(PLATFORM_SURFACELESS, null, std::ptr::null());
        let (mut major, mut minor) = (0, 0);
        if display.is_null() || (egl.initialize)(display, &raw mut major, &raw mut minor) == 0 {
            return Err(failed("EGL has no surfaceless display"));
        }
        (egl.bind_api)(OPENGL_API);
        // Version 3.3, core profile; or whatever there is.
        let core = [0x3098, 3, 0x30fb, 3, 0x30fd, 1, 0x3038];
        let attributes: &[i32] = if is_old { &[0x3038] } else { &core };
        let context = (egl.create_context)(display, null, null, attributes.as_ptr());
        if context.is_null() || (egl.make_current)(display, null, null, context) == 0 {
            return Err(failed("the driver gives no OpenGL context"));
        }
        Ok((display, context))
    }
}

struct Client {
    gl: Gl,
    pattern: std::cell::Cell<u32>,
    /// OpenGL's version string: a number first.
    version: String,
}

/// Columns of the first texture that is bound; each further one has 8 more.
const FIRST_COLUMNS: i32 = 8;

impl Client {
    fn run(&self, wanted: &ShaderSources) -> Result<Value, Failed> {
        let gl = &self.gl;
        // SAFETY: a current context; OpenGL checks names and numbers, and every pointer below is to as many values as its call says.
        unsafe {
            let program = (gl.create_program)();
            for (stage, kind, text) in
                [(Stage::Vertex, VERTEX_SHADER, &wanted.vertex), (Stage::Fragment, FRAGMENT_SHADER, &wanted.fragment)]
            {
                (gl.attach_shader)(program, self.shader(stage, kind, text)?);
            }
            (gl.link_program)(program);
            if self.program_number(program, LINK_STATUS) == 0 {
                let log = text(self.program_number(program, INFO_LOG_LENGTH), |room, length, to| {
                    (gl.get_program_log)(program, room, length, to);
                });
                return Err(Failed::Shader(Stage::Link, log));
            }
            let targets = self.targets(program, &wanted.fragment);
            self.framebuffer(targets)?;
            (gl.finish)();
            (gl.use_program)(program);
            let attributes = self.attributes(program);
            let blocks = self.blocks(program);
            let (uniforms, samplers) = self.uniforms(program);
            (gl.draw_arrays)(4, 0, 3);
            (gl.finish)();
            let renderer = CStr::from_ptr((gl.get_string)(0x1f01)).to_string_lossy().into_owned();
            Ok(json!({
                "renderer": renderer,
                "version": self.version,
                "targets": targets,
                "position": wanted.fragment.contains("gl_FragCoord"),
                "attributes": attributes,
                "blocks": blocks,
                "uniforms": uniforms,
                "samplers": samplers,
            }))
        }
    }

    /// Whether the chip has whole numbers, as OpenGL 3.0 and later want them.
    fn has_integers(&self) -> bool {
        self.version.split('.').next().and_then(|major| major.parse::<u32>().ok()).is_some_and(|major| major >= 3)
    }

    /// A compiled shader.
    unsafe fn shader(&self, stage: Stage, kind: u32, source: &str) -> Result<u32, Failed> {
        let gl = &self.gl;
        let length = i32::try_from(source.len()).map_err(|_| Failed::Driver("the shader is too long".to_owned()))?;
        let source: *const c_char = source.as_ptr().cast();
        // SAFETY: a current context; one text of that length; numbers have their places.
        unsafe {
            let shader = (gl.create_shader)(kind);
            (gl.shader_source)(shader, 1, &raw const source, &raw const length);
            (gl.compile_shader)(shader);
            let mut number = [0; 2];
            for (name, to) in [COMPILE_STATUS, INFO_LOG_LENGTH].into_iter().zip(&mut number) {
                (gl.get_shader)(shader, name, to);
            }
            if number[0] == 0 {
                let log = text(number[1], |room, length, to| (gl.get_shader_log)(shader, room, length, to));
                return Err(Failed::Shader(stage, log));
            }
            Ok(shader)
        }
    }

    unsafe fn program_number(&self, program: u32, name: u32) -> i32 {
        let mut number = 0;
        // SAFETY: a current context, and a place for one number.
        unsafe { (self.gl.get_program)(program, name, &raw mut number) };
        number
    }

    /// How many colour targets the fragment shader writes, at least one.
    unsafe fn targets(&self, program: u32, fragment: &str) -> i32 {
        let gl = &self.gl;
        let mut count = 0;
        // SAFETY: a current context, and places for the numbers.
        unsafe { (gl.get_interface)(program, PROGRAM_OUTPUT, ACTIVE_RESOURCES, &raw mut count) };
        let mut most = 1;
        for index in 0..u32::try_from(count).unwrap_or(0) {
            let (names, mut found, mut length) = ([RESOURCE_LOCATION, ARRAY_SIZE], [-1, 1], 0);
            // SAFETY: as above; both lists have two numbers.
            unsafe {
                let to = found.as_mut_ptr();
                (gl.get_resource)(program, PROGRAM_OUTPUT, index, 2, names.as_ptr(), 2, &raw mut length, to);
            }
            let [location, size] = found;
            // Outputs of old shaders have no location, and `gl_FragData` has all elements that it can have.
            most = most.max(if location >= 0 { location + size } else { elements_written(fragment, size) });
        }
        most.min(8)
    }

    /// Targets of 8 bits a channel.
    unsafe fn framebuffer(&self, targets: i32) -> Result<(), Failed> {
        let gl = &self.gl;
        // SAFETY: a current context; places and lists are as long as said.
        unsafe {
            let mut framebuffer = 0;
            (gl.gen_framebuffers)(1, &raw mut framebuffer);
            (gl.bind_framebuffer)(FRAMEBUFFER, framebuffer);
            let mut buffers = Vec::new();
            for n in 0..targets.unsigned_abs() {
                let mut texture = 0;
                (gl.gen_textures)(1, &raw mut texture);
                (gl.bind_texture)(types::TEXTURE_2D, texture);
                (gl.texture_2d)(types::TEXTURE_2D, 0, RGBA8, 16, 16, 0, RGBA, UNSIGNED_BYTE, std::ptr::null());
                (gl.framebuffer_texture)(FRAMEBUFFER, COLOR_ATTACHMENT0 + n, types::TEXTURE_2D, texture, 0);
                buffers.push(COLOR_ATTACHMENT0 + n);
            }
            (gl.draw_buffers)(targets, buffers.as_ptr());
            (gl.viewport)(0, 0, 16, 16);
            match (gl.check_framebuffer)(FRAMEBUFFER) {
                0x8cd5 => Ok(()),
                status => Err(Failed::Driver(format!("the driver does not draw to {targets} targets: {status:#x}"))),
            }
        }
    }

    /// The attributes, each with a buffer of zeros.
    unsafe fn attributes(&self, program: u32) -> Vec<Value> {
        let gl = &self.gl;
        let mut out = Vec::new();
        // SAFETY: a current context; lists are as long as said.
        unsafe {
            let (mut array, mut buffer) = (0, 0);
            (gl.gen_vertex_arrays)(1, &raw mut array);
            (gl.bind_vertex_array)(array);
            (gl.gen_buffers)(1, &raw mut buffer);
            (gl.bind_buffer)(ARRAY_BUFFER, buffer);
            let zeros = [0u8; 256];
            (gl.buffer_data)(ARRAY_BUFFER, 256, zeros.as_ptr().cast(), STATIC_DRAW);
            for index in 0..self.program_number(program, ACTIVE_ATTRIBUTES).unsigned_abs() {
                let (mut size, mut kind) = (0, 0);
                let name = text(256, |room, length, to| {
                    (gl.get_active_attribute)(program, index, room, length, &raw mut size, &raw mut kind, to);
                });
                let c_name = CString::new(name.as_str()).unwrap_or_default();
                let location = (gl.get_attribute_location)(program, c_name.as_ptr());
                // gl_VertexID and its like have none.
                let Ok(first) = u32::try_from(location) else { continue };
                let Some(of) = by_number(kind) else { continue };
                for n in 0..(of.columns as u32) * size.unsigned_abs() {
                    (gl.enable_attribute)(first + n);
                    let (rows, null) = (of.rows as i32, std::ptr::null());
                    match of.of {
                        ComponentType::Int => (gl.attribute_integer)(first + n, rows, INT, 0, null),
                        ComponentType::Uint => (gl.attribute_integer)(first + n, rows, UNSIGNED_INT, 0, null),
                        ComponentType::Float | ComponentType::Bool => {
                            (gl.attribute)(first + n, rows, FLOAT, 0, 0, null)
                        }
                    }
                }
                out.push(json!({ "name": name, "type": kind, "size": size, "location": location }));
            }
        }
        out
    }

    /// The next unused bit patterns.
    fn patterns(&self, count: usize) -> Vec<u32> {
        let first = self.pattern.get();
        let next = first + count as u32;
        self.pattern.set(next);
        (first..next).collect()
    }

    /// Blocks of uniforms, each with a buffer that begins with a pattern.
    unsafe fn blocks(&self, program: u32) -> Vec<Value> {
        let gl = &self.gl;
        let mut out = Vec::new();
        // SAFETY: a current context; lists are as long as said.
        unsafe {
            for block in 0..self.program_number(program, ACTIVE_BLOCKS).unsigned_abs() {
                let mut bytes = 0;
                (gl.get_block)(program, block, BLOCK_DATA_SIZE, &raw mut bytes);
                let name = text(256, |room, length, to| (gl.get_block_name)(program, block, room, length, to));
                let pattern = self.patterns(4);
                let mut data = vec![0u32; (bytes.unsigned_abs() as usize).div_ceil(16) * 4 + 4];
                data[..4].copy_from_slice(&pattern);
                let mut buffer = 0;
                (gl.gen_buffers)(1, &raw mut buffer);
                (gl.bind_buffer)(UNIFORM_BUFFER, buffer);
                (gl.buffer_data)(UNIFORM_BUFFER, 4 * data.len().cast_signed(), data.as_ptr().cast(), STATIC_DRAW);
                (gl.block_binding)(program, block, block);
                (gl.bind_buffer_base)(UNIFORM_BUFFER, block, buffer);
                out.push(json!({ "name": name, "bytes": bytes, "pattern": pattern[0] }));
            }
        }
        out
    }

    /// Uniforms outside of blocks with a pattern for each component, those in blocks with their offset, and samplers with a texture each.
    unsafe fn uniforms(&self, program: u32) -> (Vec<Value>, Vec<Value>) {
        let gl = &self.gl;
        let (mut uniforms, mut samplers) = (Vec::new(), Vec::new());
        // SAFETY: a current context; lists are as long as said.
        unsafe {
            for index in 0..self.program_number(program, ACTIVE_UNIFORMS).unsigned_abs() {
                let (mut size, mut kind) = (0i32, 0);
                let name = text(256, |room, length, to| {
                    (gl.get_active_uniform)(program, index, room, length, &raw mut size, &raw mut kind, to);
                });
                let (mut block, mut offset) = (-1, -1);
                (gl.get_active_uniforms)(program, 1, &raw const index, UNIFORM_BLOCK_INDEX, &raw mut block);
                (gl.get_active_uniforms)(program, 1, &raw const index, UNIFORM_OFFSET, &raw mut offset);
                let short = name.strip_suffix("[0]").unwrap_or(&name).to_owned();
                if block >= 0 {
                    uniforms
                        .push(json!({ "name": short, "type": kind, "size": size, "block": block, "offset": offset }));
                    continue;
                }
                let c_name = CString::new(name).unwrap_or_default();
                let location = (gl.get_uniform_location)(program, c_name.as_ptr());
                if location < 0 {
                    continue;
                }
                if let Some(sampler) = sampler_by_number(kind) {
                    for n in 0..size {
                        let unit = samplers.len() as i32;
                        (gl.uniform_1i)(location + n, unit);
                        let columns = FIRST_COLUMNS * (unit + 1);
                        self.texture(unit, sampler, columns);
                        let name = if size > 1 { format!("{short}[{n}]") } else { short.clone() };
                        samplers.push(json!({ "name": name, "type": kind, "columns": columns }));
                    }
                    continue;
                }
                let pattern = by_number(kind).map(|of| {
                    let values = self.patterns(of.columns * of.rows * size.unsigned_abs() as usize);
                    self.set(location, size, of, &values);
                    values[0]
                });
                uniforms.push(json!({ "name": short, "type": kind, "size": size, "block": -1, "pattern": pattern }));
            }
        }
        (uniforms, samplers)
    }

    /// Sets a uniform.
    unsafe fn set(&self, location: i32, count: i32, of: &types::Type, values: &[u32]) {
        let gl = &self.gl;
        let floats: Vec<f32> = values.iter().map(|&bits| f32::from_bits(bits)).collect();
        // Chips without integers get these as floats: the whole number that a pattern is as a float has that pattern again.
        let as_integer = |bits: u32| if self.has_integers() { bits.cast_signed() } else { f32::from_bits(bits) as i32 };
        let integers: Vec<i32> = values.iter().map(|&bits| as_integer(bits)).collect();
        let (f, i, u) = (floats.as_ptr(), integers.as_ptr(), values.as_ptr());
        // SAFETY: a current context; there are as many values as the type and the count say.
        unsafe {
            match (of.of, of.columns, of.rows) {
                (ComponentType::Float, 1, 1) => (gl.uniform_1fv)(location, count, f),
                (ComponentType::Float, 1, 2) => (gl.uniform_2fv)(location, count, f),
                (ComponentType::Float, 1, 3) => (gl.uniform_3fv)(location, count, f),
                (ComponentType::Float, 1, 4) => (gl.uniform_4fv)(location, count, f),
                (ComponentType::Float, 2, 2) => (gl.uniform_matrix_2)(location, count, 0, f),
                (ComponentType::Float, 3, 3) => (gl.uniform_matrix_3)(location, count, 0, f),
                (ComponentType::Float, 4, 4) => (gl.uniform_matrix_4)(location, count, 0, f),
                (ComponentType::Float, 2, 3) => (gl.uniform_matrix_2x3)(location, count, 0, f),
                (ComponentType::Float, 2, 4) => (gl.uniform_matrix_2x4)(location, count, 0, f),
                (ComponentType::Float, 3, 2) => (gl.uniform_matrix_3x2)(location, count, 0, f),
                (ComponentType::Float, 3, 4) => (gl.uniform_matrix_3x4)(location, count, 0, f),
                (ComponentType::Float, 4, 2) => (gl.uniform_matrix_4x2)(location, count, 0, f),
                (ComponentType::Float, 4, 3) => (gl.uniform_matrix_4x3)(location, count, 0, f),
                (ComponentType::Uint, 1, 1) => (gl.uniform_1uiv)(location, count, u),
                (ComponentType::Uint, 1, 2) => (gl.uniform_2uiv)(location, count, u),
                (ComponentType::Uint, 1, 3) => (gl.uniform_3uiv)(location, count, u),
                (ComponentType::Uint, 1, 4) => (gl.uniform_4uiv)(location, count, u),
                // A boolean is true whatever it is set to.
                (ComponentType::Int | ComponentType::Bool, 1, 1) => (gl.uniform_1iv)(location, count, i),
                (ComponentType::Int | ComponentType::Bool, 1, 2) => (gl.uniform_2iv)(location, count, i),
                (ComponentType::Int | ComponentType::Bool, 1, 3) => (gl.uniform_3iv)(location, count, i),
                (ComponentType::Int | ComponentType::Bool, 1, 4) => (gl.uniform_4iv)(location, count, i),
                _ => {}
            }
        }
    }

    /// Binds a texture with this number of columns.
    unsafe fn texture(&self, unit: i32, sampler: &types::Sampler, columns: i32) {
        let gl = &self.gl;
        let target = sampler.target;
        let (inner, format) = if sampler.shadow { (DEPTH_COMPONENT16, DEPTH_COMPONENT) } else { (RGBA8, RGBA) };
        let (kind, null) = (UNSIGNED_BYTE, std::ptr::null());
        // SAFETY: a current context; textures without data.
        unsafe {
            let mut texture = 0;
            (gl.gen_textures)(1, &raw mut texture);
            (gl.active_texture)(TEXTURE0 + unit.unsigned_abs());
            (gl.bind_texture)(target, texture);
            // Nearest, both ways: one level is enough.
            (gl.texture_parameter)(target, 0x2801, 0x2600);
            (gl.texture_parameter)(target, 0x2800, 0x2600);
            if sampler.shadow {
                (gl.texture_parameter)(target, 0x884c, 0x884e);
            }
            match target {
                types::TEXTURE_1D => (gl.texture_1d)(target, 0, inner, columns, 0, format, kind, null),
                types::TEXTURE_3D | types::TEXTURE_2D_ARRAY => {
                    (gl.texture_3d)(target, 0, inner, columns, 8, 2, 0, format, kind, null);
                }
                types::TEXTURE_CUBE => {
                    for face in 0..6 {
                        (gl.texture_2d)(0x8515 + face, 0, inner, columns, columns, 0, format, kind, null);
                    }
                }
                _ => (gl.texture_2d)(target, 0, inner, columns, 8, 0, format, kind, null),
            }
        }
    }
}

/// How many elements of `gl_FragData`, which has `size`, a fragment shader may write: by its indices where all are numbers.
fn elements_written(fragment: &str, size: i32) -> i32 {
    let indices = fragment.split("gl_FragData").skip(1).map(|rest| {
        let (index, _) = rest.trim_start().strip_prefix('[')?.split_once(']')?;
        index.trim().parse::<i32>().ok()
    });
    indices.map(|index| index.map_or(size, |index| index.saturating_add(1).min(size))).max().unwrap_or(1)
}

/// A text of OpenGL's: `get` takes the room, a place for the length, and a place for the text.
fn text(room: i32, get: impl FnOnce(i32, *mut i32, *mut c_char)) -> String {
    let mut bytes = vec![0u8; room.max(1).unsigned_abs() as usize];
    let mut length = 0;
    get(room, &raw mut length, bytes.as_mut_ptr().cast());
    let length = usize::try_from(length).unwrap_or(0).min(bytes.len());
    String::from_utf8_lossy(&bytes[..length]).trim_end().to_owned()
}
