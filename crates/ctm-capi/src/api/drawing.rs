//! Pictures of vertex and pixel programs: jobs of `ctm draw`.

use super::control::Control;
use super::job::Array;
use super::object::{Bytes, borrow, clear, free, give};
use super::{Failure, Status, call};
use crate::boundary::{elements, store, string};
use ctm::draw::{Drawing as Plan, Drawn};
use std::collections::BTreeMap;
use std::ffi::c_char;
use std::path::Path;

/// `ctm_drawing`.
#[derive(Debug)]
pub struct Drawing(Plan);

/// `ctm_picture`.
#[derive(Debug)]
pub struct Picture {
    drawn: Drawn,
    /// Arrays of targets that C has pointers to.
    arrays: BTreeMap<u32, Vec<f32>>,
}

/// A drawing from the text of a job file.
///
/// # Safety
/// `text` points to `size` bytes; `name` and `directory` are null or C strings; `drawing` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_drawing_parse(
    text: *const c_char,
    size: usize,
    name: *const c_char,
    directory: *const c_char,
    drawing: *mut *mut Drawing,
) -> Status {
    call("ctm_drawing_parse", || {
        // SAFETY: as the caller promises.
        unsafe {
            clear(drawing)?;
            let bytes = elements(text.cast::<u8>(), size).ok_or_else(|| Failure::argument("the text is NULL"))?;
            let text = std::str::from_utf8(bytes)
                .map_err(|e| Failure(Status::Wrong, format!("byte {} is not UTF-8", e.valid_up_to())))?;
            let (name, directory) = (string(name), string(directory).unwrap_or_default());
            let plan = Plan::parse(text, name.as_deref().unwrap_or("job"), Path::new(&directory));
            give(drawing, Drawing(plan.map_err(|error| Failure::of_job(&error))?));
            Ok(())
        }
    })
}

/// A drawing of a job file.
///
/// # Safety
/// `path` is null or a C string; `drawing` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_drawing_open(path: *const c_char, drawing: *mut *mut Drawing) -> Status {
    call("ctm_drawing_open", || {
        // SAFETY: as the caller promises.
        unsafe {
            clear(drawing)?;
            let path = string(path).ok_or_else(|| Failure::argument("the path is NULL"))?;
            let plan = Plan::read(Path::new(&path)).map_err(|error| Failure::of_job(&error))?;
            give(drawing, Drawing(plan));
            Ok(())
        }
    })
}

/// Sets the size of the targets.
///
/// # Safety
/// `drawing` is null, or was given by this library, is not freed, and is not used by another call meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_drawing_set_size(drawing: *mut Drawing, width: u32, height: u32) -> Status {
    call("ctm_drawing_set_size", || {
        // SAFETY: as the caller promises.
        let drawing = unsafe { drawing.as_mut() }.ok_or_else(|| Failure::argument("the drawing is NULL"))?;
        drawing.0.size = [width, height];
        Ok(())
    })
}

/// Sets constants of all draws.
///
/// # Safety
/// As for [`ctm_drawing_set_size`]; `name` is null or a C string, `values` points to `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_drawing_set_constant(
    drawing: *mut Drawing,
    name: *const c_char,
    values: *const f32,
    count: usize,
) -> Status {
    call("ctm_drawing_set_constant", || {
        // SAFETY: as the caller promises.
        let (drawing, name, values) = unsafe { (drawing.as_mut(), string(name), elements(values, count)) };
        let drawing = drawing.ok_or_else(|| Failure::argument("the drawing is NULL"))?;
        let name = name.ok_or_else(|| Failure::argument("the name is NULL"))?;
        let values = values.ok_or_else(|| Failure::argument("the values are NULL"))?;
        for plan in &mut drawing.0.draws {
            plan.constants.retain(|(other, _)| other.register("c") != name);
            plan.constants.push((name.as_str().into(), values.to_vec()));
        }
        Ok(())
    })
}

/// Draws the picture at a point of an animation.
///
/// # Safety
/// `drawing` is null, or was given by this library and is not freed; `control` is null, or was given by this library and is not freed; `picture` is
/// null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_drawing_draw(
    drawing: *const Drawing,
    time: f32,
    control: *const Control,
    picture: *mut *mut Picture,
) -> Status {
    call("ctm_drawing_draw", || {
        // SAFETY: as the caller promises.
        let (drawing, control) = unsafe {
            clear(picture)?;
            (borrow::<Drawing>(drawing, "drawing")?, control.as_ref())
        };
        let mut plan = drawing.0.clone();
        plan.control = control.map_or_else(ctm_exec::Control::none, |control| control.of().clone());
        let drawn = plan.prepare().and_then(|mut prepared| prepared.draw(time)).map_err(|error| {
            let status = match () {
                () if plan.control.is_cancelled() => Status::Cancelled,
                () if error.is_fault() => Status::Fault,
                () => Status::Wrong,
            };
            Failure(status, error.to_string())
        })?;
        // SAFETY: `clear` saw that it may be written.
        unsafe { give(picture, Picture { drawn, arrays: BTreeMap::new() }) };
        Ok(())
    })
}

/// Frees a drawing.
///
/// # Safety
/// `drawing` is null, or was given by this library and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_drawing_free(drawing: *mut Drawing) {
    // SAFETY: as the caller promises.
    unsafe { free(drawing) }
}

/// The contents of a colour target.
///
/// # Safety
/// `picture` is null, or was given by this library, is not freed, and is not used by another call meanwhile; `array` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_picture_target(picture: *mut Picture, number: u32, array: *mut Array) -> Status {
    call("ctm_picture_target", || {
        let empty = Array { width: 0, height: 0, channels: 0, reserved: 0, data: std::ptr::null() };
        // SAFETY: as the caller promises.
        let picture = unsafe {
            store(array, empty);
            picture.as_mut()
        };
        let Picture { drawn, arrays } = picture.ok_or_else(|| Failure::argument("the picture is NULL"))?;
        let target = drawn.targets.iter().find(|target| u32::from(target.number) == number);
        let target = target.ok_or_else(|| Failure::argument(format!("the picture has no target {number}")))?;
        let held = arrays.entry(number).or_insert_with(|| target.texels().flatten().map(f32::from_bits).collect());
        let [width, height] = drawn.size;
        // SAFETY: as the caller promises.
        unsafe { store(array, Array { width, height, channels: 4, reserved: 0, data: held.as_ptr() }) };
        Ok(())
    })
}

/// The contents of the depth target.
///
/// # Safety
/// `picture` is null, or was given by this library and is not freed; `array` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_picture_depths(picture: *const Picture, array: *mut Array) -> Status {
    call("ctm_picture_depths", || {
        let empty = Array { width: 0, height: 0, channels: 0, reserved: 0, data: std::ptr::null() };
        // SAFETY: as the caller promises.
        let picture = unsafe {
            store(array, empty);
            borrow::<Picture>(picture, "picture")?
        };
        let depths = &picture.drawn.depths;
        if depths.is_empty() {
            return Err(Failure::argument("the picture has no depths"));
        }
        let [width, height] = picture.drawn.size;
        // SAFETY: as the caller promises.
        unsafe { store(array, Array { width, height, channels: 1, reserved: 0, data: depths.as_ptr() }) };
        Ok(())
    })
}

/// Warnings that did not prevent drawing: a line each.
///
/// # Safety
/// `picture` is null, or was given by this library and is not freed; `text` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_picture_findings(picture: *const Picture, text: *mut *mut Bytes) -> Status {
    call("ctm_picture_findings", || {
        // SAFETY: as the caller promises.
        let picture = unsafe {
            clear(text)?;
            borrow::<Picture>(picture, "picture")?
        };
        let lines: String = picture.drawn.findings.iter().map(|finding| format!("{finding}\n")).collect();
        // SAFETY: `clear` saw that it may be written.
        unsafe { give(text, Bytes::new(lines.into_bytes())) };
        Ok(())
    })
}

/// Frees a picture.
///
/// # Safety
/// `picture` is null, or was given by this library and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_picture_free(picture: *mut Picture) {
    // SAFETY: as the caller promises.
    unsafe { free(picture) }
}
